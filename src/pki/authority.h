// An authority signs the certificates of one federation: of its members and of its servers.
//
// Its own certificate is self-signed, P-256, for ten years, and may sign no further authorities.
// It signs only names of its own federation, which its subject says: "<federation> authority".
// What it issues ends no later than itself, and begins five minutes ago, because clocks differ.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "pki/certificate.h"
#include "pki/key.h"
#include "pki/names.h"
#include "pki/secret.h"
#include "pki/subject_request.h"

struct x509_st;  // OpenSSL's X509

namespace spillway::pki {

struct ServerNames {
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
};

// Copies share the same key.
class Authority {
 public:
  static Result<Authority> create(std::string_view federation, Instant now);
  // A certificate as create makes them, and its key.
  static Result<Authority> from_pem(std::string_view certificate_pem, std::string_view key_pem);

  const std::string& federation() const { return federation_; }
  const std::string& certificate_pem() const { return pem_; }
  const std::string& fingerprint() const { return facts_.fingerprint; }
  const Certificate& facts() const { return facts_; }
  Secret key_pem() const { return key_.to_pem(); }

  // PEM, for the client side of TLS: SAN URI member_uri(federation(), name), common name `name`.
  Result<std::string> issue_member(const PublicKey& key, std::string_view name, Instant now,
                                   Instant not_after) const;
  // PEM, for the client side of TLS of somebody who is no member: as Kubernetes knows its users.
  Result<std::string> issue_user(const PublicKey& key, const Subject& subject, Instant now,
                                 Instant not_after) const;
  // PEM, for the server side of TLS; at least one name.
  Result<std::string> issue_server(const PublicKey& key, const ServerNames& names, Instant now,
                                   Instant not_after) const;

 private:
  Authority(Key key, std::shared_ptr<x509_st> certificate, std::string pem, Certificate facts,
            std::string federation);
  Result<Instant> end_of_issued(Instant now, Instant not_after) const;

  Key key_;
  std::shared_ptr<x509_st> certificate_;
  std::string pem_;
  Certificate facts_;
  std::string federation_;
};

// Whether an authority has this certificate; answers its federation.
Result<std::string> federation_of_authority(const Certificate& facts);

}  // namespace spillway::pki
