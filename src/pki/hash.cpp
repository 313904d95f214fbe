#include "pki/hash.h"

#include <algorithm>
#include <array>

#include <openssl/evp.h>
#include <openssl/rand.h>

#include "base/check.h"
#include "base/text.h"
#include "pki/base64url.h"

namespace spillway::pki {
namespace {

using Digest = std::array<char, 32>;

Digest sha256(std::string_view bytes) {
  Digest digest{};
  unsigned int size = 0;
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                 EVP_sha256(), nullptr);
  SPILLWAY_CHECK(done == 1 && size == digest.size(), "SHA-256 failed");
  return digest;
}

}  // namespace

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
  const Digest digest = sha256(bytes);
  return to_hex({digest.data(), digest.size()});
}

std::string sha256_base64url(std::string_view bytes) {
  const Digest digest = sha256(bytes);
  return std::string(to_base64url({digest.data(), digest.size()}).view());
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
