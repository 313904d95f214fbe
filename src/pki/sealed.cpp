#include "pki/sealed.h"

#include <openssl/pem.h>

#include "base/check.h"
#include "pki/hash.h"
#include "pki/key.h"
#include "pki/openssl.h"
#include "pki/pem.h"

namespace spillway::pki {
namespace {

// The number is the version of all below: another algorithm or cost is another label.
constexpr const char* k_label = "SPILLWAY SEALED 1";

constexpr size_t k_salt_size = 16;
constexpr size_t k_nonce_size = 12;
constexpr size_t k_tag_size = 16;
constexpr size_t k_key_size = 32;
constexpr size_t k_head_size = k_salt_size + k_nonce_size;

constexpr uint64_t k_scrypt_n = uint64_t{1} << 17;
constexpr uint64_t k_scrypt_r = 8;
constexpr uint64_t k_scrypt_p = 1;
constexpr uint64_t k_scrypt_memory = uint64_t{160} << 20;

using OwnedCipher = Owned<EVP_CIPHER_CTX, EVP_CIPHER_CTX_free>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Result<Secret> stretch(std::string_view passphrase, std::string_view salt) {
  Secret key = Secret::of_size(k_key_size);
  if (EVP_PBE_scrypt(passphrase.data(), passphrase.size(), bytes_of(salt), salt.size(), k_scrypt_n,
                     k_scrypt_r, k_scrypt_p, k_scrypt_memory,
                     reinterpret_cast<unsigned char*>(key.data()), key.size()) != 1) {
    return fail(Code::unavailable, "passphrase", "there are no 128 MiB of memory to check it",
                "free some and try again");
  }
  return key;
}

}  // namespace

Result<std::string> seal(std::string_view bytes, std::string_view passphrase) {
  SPILLWAY_TRY(check_passphrase(passphrase));
  const QuietErrors quiet;
  const Secret head = random_secret(k_head_size);
  const Result<Secret> key = stretch(passphrase, head.view().substr(0, k_salt_size));
  if (!key) return tl::unexpected(key.error());

  std::string sealed(head.view());
  sealed.resize(k_head_size + bytes.size() + k_tag_size);
  auto* out = reinterpret_cast<unsigned char*>(sealed.data());
  const OwnedCipher cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  int rest = 0;
  const bool done = cipher &&
                    EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr,
                                       bytes_of(key->view()), out + k_salt_size) == 1 &&
                    EVP_EncryptUpdate(cipher.get(), out + k_head_size, &size, bytes_of(bytes),
                                      static_cast<int>(bytes.size())) == 1 &&
                    EVP_EncryptFinal_ex(cipher.get(), out + k_head_size + size, &rest) == 1 &&
                    EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, k_tag_size,
                                        out + k_head_size + bytes.size()) == 1;
  SPILLWAY_CHECK(done, "encryption failed");

  const OwnedBio bio = memory_writer();
  SPILLWAY_CHECK(PEM_write_bio(bio.get(), k_label, "", out, static_cast<long>(sealed.size())) > 0,
                 "no memory");
  return std::string(written(bio));
}

Result<Secret> unseal(std::string_view text, std::string_view passphrase) {
  const QuietErrors quiet;
  const Result<PemBlock> block = single_pem(text, k_label, "backup");
  if (!block) return tl::unexpected(block.error());
  Result<std::string> sealed = decode_pem(*block, "backup");
  if (!sealed) return tl::unexpected(sealed.error());
  if (sealed->size() < k_head_size + k_tag_size) {
    return fail(Code::invalid, "backup", "it is cut off", "use another copy of it");
  }
  const std::string_view all = *sealed;
  const Result<Secret> key = stretch(passphrase, all.substr(0, k_salt_size));
  if (!key) return tl::unexpected(key.error());

  const size_t length = all.size() - k_head_size - k_tag_size;
  Secret bytes = Secret::of_size(length);
  auto* out = reinterpret_cast<unsigned char*>(bytes.data());
  const OwnedCipher cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  int rest = 0;
  const bool done = cipher &&
                    EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr,
                                       bytes_of(key->view()), bytes_of(all) + k_salt_size) == 1 &&
                    EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, k_tag_size,
                                        sealed->data() + k_head_size + length) == 1 &&
                    EVP_DecryptUpdate(cipher.get(), out, &size, bytes_of(all) + k_head_size,
                                      static_cast<int>(length)) == 1 &&
                    EVP_DecryptFinal_ex(cipher.get(), out + size, &rest) == 1;
  if (!done) {
    return fail(Code::denied, "backup", "the passphrase is wrong, or the backup was changed",
                "check the passphrase; else use another copy");
  }
  return bytes;
}

}  // namespace spillway::pki
