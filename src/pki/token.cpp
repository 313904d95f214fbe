#include "pki/token.h"

#include <optional>
#include <utility>

#include "base/check.h"
#include "pki/hash.h"

namespace spillway::pki {
namespace {

constexpr std::string_view k_prefix = "swt1.";
constexpr size_t k_secret_characters = 43;
constexpr size_t k_token_length = k_prefix.size() + k_secret_characters + 1 + k_fingerprint_digits;
constexpr size_t k_id_digits = 32;

tl::unexpected<Error> refuse(const char* reason) {
  return fail(Code::invalid, "token", reason,
              "copy all of it, from swt1. to the last digit, or ask the operator for a new one");
}

}  // namespace

Token make_token(std::string_view authority_fingerprint) {
  SPILLWAY_CHECK(is_fingerprint(authority_fingerprint), "a token needs a fingerprint");
  return Token{random_secret(k_token_secret_bytes), std::string(authority_fingerprint)};
}

Secret to_text(const Token& token) {
  const Secret secret = to_base64url(token.secret.view());
  Secret text = Secret::of_size(k_prefix.size() + secret.size() + 1 + token.authority.size());
  char* at = text.data();
  for (const std::string_view part :
       {k_prefix, secret.view(), std::string_view("."), std::string_view(token.authority)}) {
    at += part.copy(at, part.size());
  }
  return text;
}

Result<Token> parse_token(std::string_view text) {
  if (!text.starts_with(k_prefix)) return refuse("it does not begin with swt1.");
  if (text.size() < k_token_length) return refuse("it is too short");
  if (text.size() > k_token_length) return refuse("it is too long");
  text.remove_prefix(k_prefix.size());
  std::optional<Secret> secret = from_base64url(text.substr(0, k_secret_characters));
  if (!secret) return refuse("its secret is not base64url");
  text.remove_prefix(k_secret_characters);
  if (text.front() != '.') return refuse("there is no '.' between secret and fingerprint");
  text.remove_prefix(1);
  if (!is_fingerprint(text)) return refuse("its fingerprint is not 64 lower-case hex digits");
  return Token{std::move(*secret), std::string(text)};
}

std::string token_id(const Secret& secret) {
  return sha256_hex(secret.view()).substr(0, k_id_digits);
}

}  // namespace spillway::pki
