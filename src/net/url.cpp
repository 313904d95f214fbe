#include <charconv>

#include "base/text.h"
#include "net/ascii.h"
#include "net/client.h"

namespace spillway::net {

Result<Url> parse_url(std::string_view text) {
  const auto wrong = [text](std::string_view reason) {
    return fail(Code::invalid, "address " + in_quotes(text), std::string(reason),
                "write it as https://host:port");
  };
  Url url;
  std::string_view rest = text;
  const size_t colons = rest.find("://");
  if (colons == std::string_view::npos) return wrong("it does not begin with https://");
  const std::string_view scheme = rest.substr(0, colons);
  if (equal_ignoring_case(scheme, "http")) {
    url.is_plain = true;
    url.port = 80;
  } else if (!equal_ignoring_case(scheme, "https")) {
    return wrong("it does not begin with https://");
  }
  rest.remove_prefix(colons + 3);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const bool is_bracketed = rest.starts_with('[');
  const size_t end = is_bracketed ? rest.find(']') : rest.find(':');
  if (is_bracketed && end == std::string_view::npos) return wrong("a bracket is not closed");
  url.host = rest.substr(is_bracketed ? 1 : 0, is_bracketed ? end - 1 : end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + (is_bracketed ? 1 : 0));
  for (const char c : url.host) {
    if (!is_letter_or_digit(c) && c != '-' && c != '.' && c != '_' && !(is_bracketed && c == ':')) {
      return wrong("the host has a character that no host has");
    }
  }
  if (url.host.empty()) return wrong("it has no host");
  if (rest.empty()) return url;
  if (!rest.starts_with(':')) return wrong("there is something behind the host");
  rest.remove_prefix(1);
  const auto [last, error] = std::from_chars(rest.data(), rest.data() + rest.size(), url.port);
  if (error != std::errc{} || last != rest.data() + rest.size() || url.port == 0) {
    return wrong("the port is not a number from 1 to 65535");
  }
  return url;
}

}  // namespace spillway::net
