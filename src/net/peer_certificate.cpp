// What an X.509 certificate says, as a PeerCertificate.
#include <array>
#include <ctime>

#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "net/tls.h"

namespace spillway::net {
namespace {

std::string hex_of(const unsigned char* bytes, size_t size) {
  constexpr std::string_view k_digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(size * 2);
  for (size_t i = 0; i < size; ++i) {
    hex += k_digits[bytes[i] >> 4];
    hex += k_digits[bytes[i] & 15];
  }
  return hex;
}

std::string first_uri(const X509* certificate) {
  auto* names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  std::string uri;
  for (int i = 0; uri.empty() && i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* text = name->d.uniformResourceIdentifier;
    uri.assign(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
               static_cast<size_t>(ASN1_STRING_length(text)));
  }
  GENERAL_NAMES_free(names);
  return uri;
}

std::string key_hash(const X509* certificate) {
  unsigned char* der = nullptr;
  const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);
  if (size <= 0) return {};
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int digest_size = 0;
  const int done = EVP_Digest(der, static_cast<size_t>(size), digest.data(), &digest_size,
                              EVP_sha256(), nullptr);
  OPENSSL_free(der);
  return done == 1 ? hex_of(digest.data(), digest_size) : std::string{};
}

std::string serial_of(X509* certificate) {
  const ASN1_INTEGER* serial = X509_get0_serialNumber(certificate);
  return hex_of(ASN1_STRING_get0_data(serial), static_cast<size_t>(ASN1_STRING_length(serial)));
}

// A date that no computer of ours can mean is the start of time: then the certificate is expired.
Instant instant_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return k_first_instant;
  const std::time_t seconds_since = ::timegm(&parts);
  return seconds_since < 0 ? k_first_instant : Instant{static_cast<int64_t>(seconds_since) * 1000};
}

// By its signature, not by what it says of its issuer; also in a session that is resumed, where
// nothing is verified again.
std::string authority_of(ssl_st* tls, X509* certificate) {
  const auto* known = X509_STORE_get0_objects(SSL_CTX_get_cert_store(SSL_get_SSL_CTX(tls)));
  for (int i = 0; i < sk_X509_OBJECT_num(known); ++i) {
    const X509* one = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(known, i));
    if (one == nullptr) continue;
    if (X509_verify(certificate, X509_get0_pubkey(one)) == 1) return key_hash(one);
    ERR_clear_error();
  }
  return {};
}

}  // namespace

std::shared_ptr<const PeerCertificate> peer_certificate(ssl_st* tls) {
  X509* certificate = SSL_get0_peer_certificate(tls);
  if (certificate == nullptr) return nullptr;
  auto said = std::make_shared<PeerCertificate>();
  said->uri = first_uri(certificate);
  said->key = key_hash(certificate);
  said->serial = serial_of(certificate);
  said->authority = authority_of(tls, certificate);
  said->not_before = instant_of(X509_get0_notBefore(certificate));
  said->not_after = instant_of(X509_get0_notAfter(certificate));
  return said;
}

}  // namespace spillway::net
