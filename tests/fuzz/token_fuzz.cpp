// Tokens and member URIs: what is read is written as the same text, and no error repeats a token.
#include "pki/token.h"

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/text.h"
#include "pki/names.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace spillway;
  using namespace spillway::pki;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto token = parse_token(text)) {
    SPILLWAY_CHECK(to_text(*token).view() == text, "token");
    SPILLWAY_CHECK(token_id(token->secret).size() == 32, "token id");
  } else {
    // Short texts may occur in any sentence.
    const bool repeats = size >= 12 && token.error().message().find(text) != std::string::npos;
    SPILLWAY_CHECK(!repeats, "an error repeats the token");
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
