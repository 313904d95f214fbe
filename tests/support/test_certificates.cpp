#include "support/test_certificates.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/check.h"

namespace spillway::test {
namespace {

using Key = std::shared_ptr<EVP_PKEY>;
using Certificate = std::shared_ptr<X509>;

Key make_key() {
  Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  SPILLWAY_CHECK(key != nullptr, "no key");
  return key;
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

std::string pem_of(const Certificate& certificate) {
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate.get());
  return text_of(bio);
}

std::string pem_of(const Key& key) {
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return text_of(bio);
}

void add_extension(X509* certificate, int nid, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
  SPILLWAY_CHECK(extension != nullptr, "a bad extension");
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

Certificate begin(const Key& key, const std::string& name, const X509* issuer, int64_t serial,
                  int64_t from, int64_t to) {
  Certificate certificate(X509_new(), &X509_free);
  X509* x = certificate.get();
  X509_set_version(x, 2);
  ASN1_INTEGER_set_int64(X509_get_serialNumber(x), serial);
  X509_gmtime_adj(X509_getm_notBefore(x), from);
  X509_gmtime_adj(X509_getm_notAfter(x), to);
  X509_set_pubkey(x, key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(x, X509_get_subject_name(issuer != nullptr ? issuer : x));
  return certificate;
}

std::string alternative_names(const CertificateWish& wish) {
  std::string names;
  const auto add = [&names](const char* kind, const std::string& value) {
    if (!value.empty()) names += (names.empty() ? "" : ",") + std::string(kind) + ":" + value;
  };
  add("URI", wish.uri);
  add("DNS", wish.dns);
  add("IP", wish.ip);
  return names;
}

}  // namespace

TestAuthority::TestAuthority(const std::string& name) : key_(make_key()) {
  certificate_ = begin(key_, name, nullptr, 1, -24 * 3600, 365L * 24 * 3600);
  add_extension(certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate_.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  SPILLWAY_CHECK(X509_sign(certificate_.get(), key_.get(), EVP_sha256()) > 0, "cannot sign");
  pem_ = pem_of(certificate_);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  X509_digest(certificate_.get(), EVP_sha256(), digest, &size);
  for (unsigned int i = 0; i < size; ++i) fingerprint_ += fmt::format("{:02x}", digest[i]);
}

CertificateAndKey TestAuthority::issue(const CertificateWish& wish) {
  const Key key = make_key();
  const Certificate certificate =
      begin(key, wish.name, certificate_.get(), next_serial_++, wish.from_seconds, wish.to_seconds);
  add_extension(certificate.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(certificate.get(), NID_ext_key_usage, wish.is_server ? "serverAuth" : "clientAuth");
  const std::string names = alternative_names(wish);
  if (!names.empty()) add_extension(certificate.get(), NID_subject_alt_name, names);
  SPILLWAY_CHECK(X509_sign(certificate.get(), key_.get(), EVP_sha256()) > 0, "cannot sign");
  return {pem_of(certificate), pem_of(key)};
}

}  // namespace spillway::test
