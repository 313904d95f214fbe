// Public keys as PEM (SubjectPublicKeyInfo): how Liqo tells a cluster's.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "pki/key.h"

namespace spillway::pki {

inline constexpr size_t k_max_public_key = size_t{4} << 10;

// One block of at most k_max_public_key: P-256 or Ed25519, in its one spelling.
Result<PublicKey> read_public_key(std::string_view pem);
std::string to_pem(const PublicKey& key);

}  // namespace spillway::pki
