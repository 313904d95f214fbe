// What envelopes and their keys are made of, each by the RFC that has vectors for it. Only for
// pki/envelope.cpp and pki/derived_key.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pki/secret.h"

namespace spillway::pki {

inline constexpr size_t k_x25519_bytes = 32;
inline constexpr size_t k_aead_key_bytes = 32;
inline constexpr size_t k_aead_nonce_bytes = 12;
inline constexpr size_t k_aead_tag_bytes = 16;

// RFC 7748, both of 32 bytes. Nothing when the point is of small order: then the secret would be
// zero, and known to everybody.
std::optional<Secret> x25519(std::string_view private_key, std::string_view point);
std::string x25519_public(std::string_view private_key);

// RFC 5869 with SHA-256.
Secret hkdf_sha256(std::string_view input, std::string_view salt, std::string_view info,
                   size_t size);

// RFC 8439: ciphertext, then tag. Nothing when any of it is not as it was encrypted.
std::string aead_encrypt(std::string_view key, std::string_view nonce, std::string_view associated,
                         std::string_view plaintext);
std::optional<Secret> aead_decrypt(std::string_view key, std::string_view nonce,
                                   std::string_view associated, std::string_view ciphertext);

}  // namespace spillway::pki
