#include "pki/hash.h"

#include <algorithm>
#include <array>

#include <openssl/evp.h>
#include <openssl/rand.h>

#include "base/check.h"
#include "base/text.h"

namespace spillway::pki {

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view k_digits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(k_digits[byte >> 4]);
    text.push_back(k_digits[byte & 15]);
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  SPILLWAY_CHECK(done == 1 && size == 32, "SHA-256 failed");
  return to_hex({reinterpret_cast<const char*>(digest.data()), size});
}

bool is_fingerprint(std::string_view text) {
  return text.size() == k_fingerprint_digits && std::all_of(text.begin(), text.end(), is_lower_hex);
}

Secret random_secret(size_t size) {
  Secret secret = Secret::of_size(size);
  const int done =
      RAND_priv_bytes(reinterpret_cast<unsigned char*>(secret.data()), static_cast<int>(size));
  SPILLWAY_CHECK(done == 1, "the system has no randomness");
  return secret;
}

}  // namespace spillway::pki
