// OpenSSL's objects as values that free themselves. Only for this room's .cpp files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "pki/secret.h"

namespace spillway::pki {

template <auto free_it>
struct Free {
  template <class T>
  void operator()(T* object) const {
    free_it(object);
  }
};

template <class T, auto free_it>
using Owned = std::unique_ptr<T, Free<free_it>>;

using OwnedBio = Owned<BIO, BIO_free_all>;
using OwnedNumber = Owned<BIGNUM, BN_free>;
using OwnedKey = Owned<EVP_PKEY, EVP_PKEY_free>;
using OwnedKeyContext = Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using OwnedCertificate = Owned<X509, X509_free>;
using OwnedRequest = Owned<X509_REQ, X509_REQ_free>;
using OwnedNames = Owned<GENERAL_NAMES, GENERAL_NAMES_free>;

// Takes what OpenSSL queues as errors with it when it goes: the thread's TLS connections read the
// same queue and would take them for their own.
class QuietErrors {
 public:
  QuietErrors() { ERR_set_mark(); }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
  ~QuietErrors() { ERR_pop_to_mark(); }
};

// Reads from `text` without copying it; `text` must outlive it.
OwnedBio reader_of(std::string_view text);
OwnedBio memory_writer();
std::string_view written(const OwnedBio& bio);

// DER, by one of OpenSSL's i2d_*; empty when there is none.
template <auto encode, class T>
std::string der_of(T* object) {
  unsigned char* bytes = nullptr;
  const int size = encode(object, &bytes);
  if (size <= 0) return {};
  std::string der(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  OPENSSL_free(bytes);
  return der;
}

// By the bytes of their DER: the named curve and an uncompressed point, nothing that OpenSSL would
// also read. So the same key always has the same fingerprint.
bool is_p256(std::string_view public_key_der);
bool is_ed25519(std::string_view public_key_der);

// What to sign with by this key: Ed25519 has its hash inside.
const EVP_MD* digest_for(const EVP_PKEY* key);

// The usual spelling of it.
std::string certificate_to_pem(X509* certificate);

}  // namespace spillway::pki
