// Requests that our own code would not make: other keys, other wishes.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

namespace spillway::pki {

using TestKey = std::shared_ptr<EVP_PKEY>;

inline TestKey rsa_key() { return {EVP_RSA_gen(2048), EVP_PKEY_free}; }
inline TestKey curve_key(const char* curve) { return {EVP_EC_gen(curve), EVP_PKEY_free}; }
inline TestKey ed25519_key() {
  return {EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free};
}
inline TestKey compressed_key() {
  TestKey key = curve_key("P-256");
  EVP_PKEY_set_utf8_string_param(key.get(), "point-format", "compressed");
  return key;
}

// Wishes for a SAN and for being an authority; signed by `signer` over the key of `key`.
inline std::string odd_request(const TestKey& key, const TestKey& signer, const char* common_name,
                               const char* san) {
  const std::shared_ptr<X509_REQ> request(X509_REQ_new(), X509_REQ_free);
  X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(request.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name), -1, -1, 0);
  X509_REQ_set_pubkey(request.get(), key.get());
  STACK_OF(X509_EXTENSION)* extensions = sk_X509_EXTENSION_new_null();
  sk_X509_EXTENSION_push(extensions,
                         X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, san));
  sk_X509_EXTENSION_push(extensions,
                         X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "CA:TRUE"));
  X509_REQ_add_extensions(request.get(), extensions);
  sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
  const bool ed25519 = EVP_PKEY_get_base_id(signer.get()) == EVP_PKEY_ED25519;
  X509_REQ_sign(request.get(), signer.get(), ed25519 ? nullptr : EVP_sha256());
  const std::shared_ptr<BIO> bio(BIO_new(BIO_s_mem()), BIO_free_all);
  PEM_write_bio_X509_REQ(bio.get(), request.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

inline std::string odd_request(const TestKey& key) {
  return odd_request(key, key, "edge-1", "URI:spillway://lab/edge-1");
}

}  // namespace spillway::pki
