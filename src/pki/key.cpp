#include "pki/key.h"

#include <cstring>

#include <openssl/pem.h>
#include <openssl/pkcs12.h>

#include "base/check.h"
#include "pki/hash.h"
#include "pki/openssl.h"
#include "pki/pem.h"

namespace spillway::pki {
namespace {

constexpr size_t k_shortest_passphrase = 12;
constexpr size_t k_longest_passphrase = 1000;  // OpenSSL's buffer has 1024

// OWASP's setting for scrypt within 16 MiB, which every OpenSSL accepts.
constexpr uint64_t k_scrypt_n = 16384;
constexpr uint64_t k_scrypt_r = 8;
constexpr uint64_t k_scrypt_p = 5;

using OwnedPrivateInfo = Owned<PKCS8_PRIV_KEY_INFO, PKCS8_PRIV_KEY_INFO_free>;
using OwnedSealedKey = Owned<X509_SIG, X509_SIG_free>;

// Without a callback OpenSSL would ask at the terminal.
int give_passphrase(char* buffer, int size, int /*writing*/, void* passphrase) {
  const auto& text = *static_cast<const std::string_view*>(passphrase);
  if (text.empty() || text.size() > static_cast<size_t>(size)) return -1;
  std::memcpy(buffer, text.data(), text.size());
  return static_cast<int>(text.size());
}

EVP_PKEY* read_private_key(std::string_view pem, std::string_view passphrase) {
  const OwnedBio bio = reader_of(pem);
  return PEM_read_bio_PrivateKey(bio.get(), nullptr, &give_passphrase, &passphrase);
}

}  // namespace

std::string PublicKey::fingerprint() const { return sha256_hex(der_of<i2d_PUBKEY>(key_.get())); }

Key Key::generate() {
  const QuietErrors quiet;
  EVP_PKEY* key = EVP_EC_gen("P-256");
  SPILLWAY_CHECK(key != nullptr, "no key can be made");
  return Key(std::shared_ptr<EVP_PKEY>(key, EVP_PKEY_free));
}

Key Key::generate_member() {
  const QuietErrors quiet;
  EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  SPILLWAY_CHECK(key != nullptr, "no key can be made");
  return Key(std::shared_ptr<EVP_PKEY>(key, EVP_PKEY_free));
}

Result<Key> Key::accept(EVP_PKEY* taken) {
  std::shared_ptr<EVP_PKEY> key(taken, EVP_PKEY_free);
  const std::string spelled = der_of<i2d_PUBKEY>(key.get());
  if (!is_p256(spelled) && !is_ed25519(spelled)) {
    return fail(Code::invalid, "private key", "it is neither a P-256 nor an Ed25519 key",
                "make one with: openssl genpkey -algorithm ED25519");
  }
  const OwnedKeyContext context(EVP_PKEY_CTX_new(key.get(), nullptr));
  if (!context || EVP_PKEY_pairwise_check(context.get()) != 1) {
    return fail(Code::invalid, "private key", "its two halves do not belong together",
                "restore it from a backup");
  }
  return Key(std::move(key));
}

Result<Key> Key::from_pem(std::string_view pem) {
  const QuietErrors quiet;
  const Result<PemBlock> block = single_pem(pem, "PRIVATE KEY", "private key");
  if (!block) {
    Error error = block.error();
    error.next = "convert it with: openssl pkcs8 -topk8 -nocrypt -in <file>";
    return tl::unexpected(std::move(error));
  }
  EVP_PKEY* key = read_private_key(block->text, {});
  if (key == nullptr) {
    return fail(Code::invalid, "private key", "it is damaged", "restore it from a backup");
  }
  return accept(key);
}

Result<Key> Key::from_encrypted_pem(std::string_view pem, std::string_view passphrase) {
  const QuietErrors quiet;
  const Result<PemBlock> block = single_pem(pem, "ENCRYPTED PRIVATE KEY", "private key");
  if (!block) return tl::unexpected(block.error());
  EVP_PKEY* key = read_private_key(block->text, passphrase);
  if (key == nullptr) {
    return fail(Code::denied, "private key", "the passphrase is wrong, or the key is damaged",
                "check the passphrase; else restore the key from a backup");
  }
  return accept(key);
}

Secret Key::to_pem() const {
  const OwnedBio bio = memory_writer();
  const int done =
      PEM_write_bio_PKCS8PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
  SPILLWAY_CHECK(done == 1, "a key has no PEM");
  return Secret(written(bio));
}

Result<std::string> Key::to_encrypted_pem(std::string_view passphrase) const {
  SPILLWAY_TRY(check_passphrase(passphrase));
  const QuietErrors quiet;
  const OwnedPrivateInfo info(EVP_PKEY2PKCS8(key_.get()));
  SPILLWAY_CHECK(info != nullptr, "a key has no PKCS#8");
  // Salt and IV are OpenSSL's own random ones. The sealed key takes the parameters over.
  X509_ALGOR* scrypt = PKCS5_pbe2_set_scrypt(EVP_aes_256_cbc(), nullptr, 0, nullptr, k_scrypt_n,
                                             k_scrypt_r, k_scrypt_p);
  SPILLWAY_CHECK(scrypt != nullptr, "no memory");
  const OwnedSealedKey sealed(
      PKCS8_set0_pbe(passphrase.data(), static_cast<int>(passphrase.size()), info.get(), scrypt));
  SPILLWAY_CHECK(sealed != nullptr, "a key cannot be encrypted");
  const OwnedBio bio = memory_writer();
  SPILLWAY_CHECK(PEM_write_bio_PKCS8(bio.get(), sealed.get()) == 1, "a key has no PEM");
  return std::string(written(bio));
}

Status check_passphrase(std::string_view passphrase) {
  if (passphrase.size() >= k_shortest_passphrase && passphrase.size() <= k_longest_passphrase) {
    return {};
  }
  return fail(Code::invalid, "passphrase", "it must have 12 to 1000 bytes",
              "choose several random words");
}

}  // namespace spillway::pki
