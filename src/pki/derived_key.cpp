#include "pki/derived_key.h"

#include "base/check.h"
#include "pki/openssl.h"
#include "pki/sealing_parts.h"

namespace spillway::pki {
namespace {

constexpr size_t k_seed_bytes = 32;
constexpr std::string_view k_sealing_info = "spillway sealing key 1";

}  // namespace

Result<SealingKey> derive_sealing_key(const Key& identity, std::string_view federation) {
  if (EVP_PKEY_is_a(identity.handle(), "ED25519") != 1) {
    return fail(Code::invalid, "identity key", "it is no Ed25519 key, so it cannot sign documents",
                "join with a new identity: spillway join URL --dir ANOTHER-FOLDER");
  }
  Secret seed = Secret::of_size(k_seed_bytes);
  size_t size = seed.size();
  const int got = EVP_PKEY_get_raw_private_key(
      identity.handle(), reinterpret_cast<unsigned char*>(seed.data()), &size);
  SPILLWAY_CHECK(got == 1 && size == k_seed_bytes, "an Ed25519 key has 32 bytes");
  return SealingKey::from_bytes(
      hkdf_sha256(seed.view(), federation, k_sealing_info, k_x25519_bytes));
}

}  // namespace spillway::pki
