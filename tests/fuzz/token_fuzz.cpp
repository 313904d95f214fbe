// Tokens and member URIs: what is read is written as the same text, and errors come from
// a fixed list, so that none repeats a secret.
#include "pki/token.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/text.h"
#include "pki/names.h"

namespace {

// All that may be said about a token that is refused.
constexpr std::array<std::string_view, 6> k_reasons{
    "it does not begin with swt1.",
    "it is too short",
    "it is too long",
    "its secret is not base64url",
    "there is no '.' between secret and fingerprint",
    "its fingerprint is not 64 lower-case hex digits",
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace spillway;
  using namespace spillway::pki;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto token = parse_token(text)) {
    SPILLWAY_CHECK(to_text(*token).view() == text, "token");
    SPILLWAY_CHECK(token_id(token->secret).size() == 32, "token id");
  } else {
    const auto known = std::find(k_reasons.begin(), k_reasons.end(), token.error().reason);
    SPILLWAY_CHECK(known != k_reasons.end(), "an error says more than it may");
  }
  if (const auto bytes = from_base64url(text)) {
    SPILLWAY_CHECK(to_base64url(bytes->view()).view() == text, "base64url");
  }
  SPILLWAY_CHECK(from_base64url(to_base64url(text).view())->view() == text, "base64url");
  if (const auto name = parse_member_uri(text)) {
    SPILLWAY_CHECK(member_uri(name->federation, name->name) == text, "member URI");
  } else {
    SPILLWAY_CHECK(is_printable(name.error().message()), "an error repeats the input");
  }
  return 0;
}
