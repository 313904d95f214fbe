// SHA-256, hexadecimal digits and the system's cryptographic randomness. Unlike base/digest.h these
// hold against whoever chooses the input.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "pki/secret.h"

namespace spillway::pki {

inline constexpr size_t k_fingerprint_digits = 64;

std::string sha256_hex(std::string_view bytes);        // 64 lower-case digits
std::string sha256_base64url(std::string_view bytes);  // 43 characters
std::string to_hex(std::string_view bytes);            // lower-case

// As sha256_hex writes them; no other spelling, so that equal fingerprints are equal text.
bool is_fingerprint(std::string_view text);

Secret random_secret(size_t size);

}  // namespace spillway::pki
