// A token lets one newcomer join: a secret that the book knows only by its hash, and the
// fingerprint of the authority that the newcomer must find at the other end before it shows the
// secret to anyone.
//
// As text: swt1.<secret, 43 characters of base64url>.<fingerprint, 64 hexadecimal digits>. There is
// one text for each token, and no error ever repeats any part of it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "pki/base64url.h"
#include "pki/secret.h"

namespace spillway::pki {

inline constexpr size_t k_token_secret_bytes = 32;

struct Token {
  Secret secret;          // k_token_secret_bytes
  std::string authority;  // fingerprint of its certificate, see fingerprint_of
};

// A new secret. The fingerprint is ours, so a malformed one is a bug.
Token make_token(std::string_view authority_fingerprint);

Secret to_text(const Token& token);
Result<Token> parse_token(std::string_view text);

// What the book stores and people may see: the first 32 hexadecimal digits of the secret's SHA-256.
std::string token_id(const Secret& secret);

}  // namespace spillway::pki
