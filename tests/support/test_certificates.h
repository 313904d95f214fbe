// Certificates for tests, made on the spot: an authority and what it issues. P-256 throughout.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

struct evp_pkey_st;
struct x509_st;

namespace spillway::test {

struct CertificateWish {
  std::string name = "someone";  // common name
  std::string uri = {};          // SAN URI
  std::string dns = {};          // SAN DNS
  std::string ip = {};           // SAN IP
  bool is_server = false;        // extended key usage serverAuth, else clientAuth
  int64_t from_seconds = -3600;  // relative to now
  int64_t to_seconds = 24 * 3600;
};

struct CertificateAndKey {
  std::string certificate_pem;
  std::string key_pem;
};

class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name = "test authority");
  CertificateAndKey issue(const CertificateWish& wish);
  const std::string& pem() const { return pem_; }
  const std::string& fingerprint() const { return fingerprint_; }  // hex SHA-256 of the DER

 private:
  std::shared_ptr<evp_pkey_st> key_;
  std::shared_ptr<x509_st> certificate_;
  std::string pem_;
  std::string fingerprint_;
  int64_t next_serial_ = 0x1000;
};

}  // namespace spillway::test
