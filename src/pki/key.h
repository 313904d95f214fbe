// Keys: P-256 for signing what is ours, and the public halves of others' keys.
//
// A key's fingerprint is the SHA-256 of its SubjectPublicKeyInfo, as 64 hexadecimal digits: it is
// the same for the private key, the request and the certificate.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "pki/secret.h"

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

namespace spillway::pki {

class PublicKey {
 public:
  explicit PublicKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}

  std::string fingerprint() const;
  evp_pkey_st* handle() const { return key_.get(); }

 private:
  std::shared_ptr<evp_pkey_st> key_;
};

// Copies share the same key, which is wiped with the last of them.
class Key {
 public:
  static Key generate();  // P-256, which every TLS library and browser knows
  // Ed25519: a broker keeps the key of every member that is connected, and this one is 3 KiB
  // smaller in OpenSSL's memory.
  static Key generate_member();
  // One block of PKCS#8, with nothing around it. Errors repeat nothing of it.
  static Result<Key> from_pem(std::string_view pem);
  static Result<Key> from_encrypted_pem(std::string_view pem, std::string_view passphrase);

  Secret to_pem() const;
  // AES-256-CBC under scrypt, readable by `openssl pkey`. The passphrase: check_passphrase.
  Result<std::string> to_encrypted_pem(std::string_view passphrase) const;

  std::string fingerprint() const { return public_key().fingerprint(); }
  PublicKey public_key() const { return PublicKey(key_); }
  evp_pkey_st* handle() const { return key_.get(); }

 private:
  explicit Key(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  static Result<Key> accept(evp_pkey_st* taken);

  std::shared_ptr<evp_pkey_st> key_;
};

// At least 12 bytes: what guards an authority is guessed at offline, by whoever got the file.
Status check_passphrase(std::string_view passphrase);

}  // namespace spillway::pki
