#include "pki/sealing_parts.h"

#include <array>

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include "base/check.h"
#include "pki/openssl.h"

namespace spillway::pki {
namespace {

using OwnedCipher = Owned<EVP_CIPHER_CTX, EVP_CIPHER_CTX_free>;
using OwnedKdf = Owned<EVP_KDF, EVP_KDF_free>;
using OwnedKdfContext = Owned<EVP_KDF_CTX, EVP_KDF_CTX_free>;

const unsigned char* in(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* out(char* bytes) { return reinterpret_cast<unsigned char*>(bytes); }

OwnedKey private_key_of(std::string_view bytes) {
  SPILLWAY_CHECK(bytes.size() == k_x25519_bytes, "an X25519 key has 32 bytes");
  OwnedKey key(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, in(bytes), bytes.size()));
  SPILLWAY_CHECK(key != nullptr, "no memory");
  return key;
}

OSSL_PARAM octets_param(const char* name, std::string_view bytes) {
  // OpenSSL only reads it.
  return OSSL_PARAM_construct_octet_string(name, const_cast<char*>(bytes.data()), bytes.size());
}

}  // namespace

std::optional<Secret> x25519(std::string_view private_key, std::string_view point) {
  const QuietErrors quiet;
  SPILLWAY_CHECK(point.size() == k_x25519_bytes, "an X25519 point has 32 bytes");
  const OwnedKey own = private_key_of(private_key);
  const OwnedKey peer(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, in(point), point.size()));
  const OwnedKeyContext context(EVP_PKEY_CTX_new(own.get(), nullptr));
  const bool ready = peer && context && EVP_PKEY_derive_init(context.get()) == 1 &&
                     EVP_PKEY_derive_set_peer(context.get(), peer.get()) == 1;
  SPILLWAY_CHECK(ready, "no memory");
  Secret shared = Secret::of_size(k_x25519_bytes);
  size_t size = shared.size();
  if (EVP_PKEY_derive(context.get(), out(shared.data()), &size) != 1) return std::nullopt;
  // OpenSSL has looked already. All of our secrecy hangs on it.
  if (shared.equals(std::string(k_x25519_bytes, '\0'))) return std::nullopt;
  return shared;
}

std::string x25519_public(std::string_view private_key) {
  const OwnedKey key = private_key_of(private_key);
  std::string point(k_x25519_bytes, '\0');
  size_t size = point.size();
  const int done = EVP_PKEY_get_raw_public_key(key.get(), out(point.data()), &size);
  SPILLWAY_CHECK(done == 1 && size == k_x25519_bytes, "an X25519 key has no bytes");
  return point;
}

Secret hkdf_sha256(std::string_view input, std::string_view salt, std::string_view info,
                   size_t size) {
  static const OwnedKdf k_kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  SPILLWAY_CHECK(k_kdf != nullptr, "OpenSSL has no HKDF");
  std::string digest = "SHA256";
  std::array<OSSL_PARAM, 5> params{
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      octets_param(OSSL_KDF_PARAM_KEY, input), octets_param(OSSL_KDF_PARAM_SALT, salt),
      octets_param(OSSL_KDF_PARAM_INFO, info), OSSL_PARAM_construct_end()};
  const OwnedKdfContext context(EVP_KDF_CTX_new(k_kdf.get()));
  Secret key = Secret::of_size(size);
  const bool done =
      context && EVP_KDF_derive(context.get(), out(key.data()), size, params.data()) == 1;
  SPILLWAY_CHECK(done, "HKDF failed");
  return key;
}

std::string aead_encrypt(std::string_view key, std::string_view nonce, std::string_view associated,
                         std::string_view plaintext) {
  SPILLWAY_CHECK(key.size() == k_aead_key_bytes && nonce.size() == k_aead_nonce_bytes, "AEAD key");
  std::string sealed(plaintext.size() + k_aead_tag_bytes, '\0');
  const OwnedCipher cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  int rest = 0;
  const bool done =
      cipher &&
      EVP_EncryptInit_ex(cipher.get(), EVP_chacha20_poly1305(), nullptr, in(key), in(nonce)) == 1 &&
      EVP_EncryptUpdate(cipher.get(), nullptr, &size, in(associated),
                        static_cast<int>(associated.size())) == 1 &&
      EVP_EncryptUpdate(cipher.get(), out(sealed.data()), &size, in(plaintext),
                        static_cast<int>(plaintext.size())) == 1 &&
      EVP_EncryptFinal_ex(cipher.get(), out(sealed.data()) + size, &rest) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, k_aead_tag_bytes,
                          sealed.data() + plaintext.size()) == 1;
  SPILLWAY_CHECK(done, "encryption failed");
  return sealed;
}

std::optional<Secret> aead_decrypt(std::string_view key, std::string_view nonce,
                                   std::string_view associated, std::string_view ciphertext) {
  SPILLWAY_CHECK(key.size() == k_aead_key_bytes && nonce.size() == k_aead_nonce_bytes, "AEAD key");
  const QuietErrors quiet;
  if (ciphertext.size() < k_aead_tag_bytes) return std::nullopt;
  const size_t length = ciphertext.size() - k_aead_tag_bytes;
  std::string tag(ciphertext.substr(length));
  Secret plaintext = Secret::of_size(length);
  const OwnedCipher cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  int rest = 0;
  const bool done =
      cipher &&
      EVP_DecryptInit_ex(cipher.get(), EVP_chacha20_poly1305(), nullptr, in(key), in(nonce)) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, k_aead_tag_bytes, tag.data()) == 1 &&
      EVP_DecryptUpdate(cipher.get(), nullptr, &size, in(associated),
                        static_cast<int>(associated.size())) == 1 &&
      EVP_DecryptUpdate(cipher.get(), out(plaintext.data()), &size, in(ciphertext),
                        static_cast<int>(length)) == 1 &&
      EVP_DecryptFinal_ex(cipher.get(), out(plaintext.data()) + size, &rest) == 1;
  if (!done) return std::nullopt;
  return plaintext;
}

}  // namespace spillway::pki
