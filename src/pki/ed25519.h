// Signatures by members' keys: Ed25519 (RFC 8032), and the names of such keys in JOSE documents
// (RFC 8037).
//
// Keys of small order are refused wherever they come up, though OpenSSL takes them: under one of
// these there are signatures that are right for any message, so that whoever holds it could say of
// every contract that it signed another. So are keys spelled with a number beyond the field: one
// key has one name.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "pki/key.h"

namespace spillway::pki {

inline constexpr size_t k_signature_bytes = 64;
inline constexpr size_t k_key_id_characters = 43;

// The thumbprint of RFC 7638, in base64url.
Result<std::string> key_id(const PublicKey& key);
bool is_key_id(std::string_view text);

// The member "x" of its JWK: 32 bytes in base64url.
Result<std::string> signing_key_text(const PublicKey& key);
Result<PublicKey> read_signing_key(std::string_view text);

// The key that 32 bytes stand for (RFC 8032 section 5.1.5): for worlds that must be repeatable.
Result<Key> signing_key_from_seed(std::string_view seed);

Result<std::string> sign_message(const Key& key, std::string_view message);
// Denied when it is not a signature by that key over that message.
Status verify_message(const PublicKey& key, std::string_view message, std::string_view signature);

}  // namespace spillway::pki
