// Keys out of RFCs, and keys that nobody should take.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <openssl/evp.h>

#include "pki/ed25519.h"
#include "pki/key.h"

namespace spillway::pki::test {

inline std::string bytes_of_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

inline Key key_of_seed(std::string_view seed) { return *signing_key_from_seed(seed.substr(0, 32)); }

// As it might come out of a certificate: nobody has looked at the point yet.
inline PublicKey unchecked_key(std::string_view point) {
  return PublicKey(std::shared_ptr<EVP_PKEY>(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr,
                                  reinterpret_cast<const unsigned char*>(point.data()),
                                  point.size()),
      EVP_PKEY_free));
}

// The multiples of a point by the order of the base point: of order 4, 1, 8, 8, 2.
inline const std::array<std::string, 5> k_small_order_points{
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"};

}  // namespace spillway::pki::test
