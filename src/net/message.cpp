#include "net/message.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "net/ascii.h"

namespace spillway::net {
namespace {

struct Phrase {
  int status;
  std::string_view text;
};

constexpr std::array k_phrases = {
    Phrase{100, "Continue"},
    Phrase{200, "OK"},
    Phrase{201, "Created"},
    Phrase{202, "Accepted"},
    Phrase{204, "No Content"},
    Phrase{301, "Moved Permanently"},
    Phrase{302, "Found"},
    Phrase{304, "Not Modified"},
    Phrase{400, "Bad Request"},
    Phrase{401, "Unauthorized"},
    Phrase{403, "Forbidden"},
    Phrase{404, "Not Found"},
    Phrase{405, "Method Not Allowed"},
    Phrase{406, "Not Acceptable"},
    Phrase{408, "Request Timeout"},
    Phrase{409, "Conflict"},
    Phrase{410, "Gone"},
    Phrase{411, "Length Required"},
    Phrase{412, "Precondition Failed"},
    Phrase{413, "Content Too Large"},
    Phrase{414, "URI Too Long"},
    Phrase{415, "Unsupported Media Type"},
    Phrase{417, "Expectation Failed"},
    Phrase{421, "Misdirected Request"},
    Phrase{422, "Unprocessable Content"},
    Phrase{428, "Precondition Required"},
    Phrase{429, "Too Many Requests"},
    Phrase{431, "Request Header Fields Too Large"},
    Phrase{500, "Internal Server Error"},
    Phrase{501, "Not Implemented"},
    Phrase{502, "Bad Gateway"},
    Phrase{503, "Service Unavailable"},
    Phrase{504, "Gateway Timeout"},
    Phrase{505, "HTTP Version Not Supported"},
    Phrase{507, "Insufficient Storage"},
};

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// What comes out is UTF-8 without control characters, whatever was escaped.
bool unescape(std::string_view text, std::string& out) {
  out.clear();
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return false;
    const int high = hex_value(text[i + 1]);
    const int low = hex_value(text[i + 2]);
    if (high < 0 || low < 0) return false;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return is_printable(out);
}

std::string_view until(std::string_view& rest, char end) {
  const size_t at = rest.find(end);
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return part;
}

bool parse_path(std::string_view path, std::vector<std::string>& segments) {
  path.remove_prefix(1);
  if (path.empty()) return true;
  while (true) {
    const size_t slash = path.find('/');
    std::string segment;
    if (!unescape(path.substr(0, slash), segment)) return false;
    if (segment == "." || segment == "..") return false;
    segments.push_back(std::move(segment));
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

bool parse_query(std::string_view query, std::vector<std::pair<std::string, std::string>>& out) {
  while (!query.empty()) {
    std::string_view value = until(query, '&');
    if (value.empty()) continue;
    const std::string_view name = until(value, '=');
    std::pair<std::string, std::string> parameter;
    if (!unescape(name, parameter.first) || !unescape(value, parameter.second)) return false;
    out.push_back(std::move(parameter));
  }
  return true;
}

}  // namespace

const std::string* find_header(const Headers& headers, std::string_view name) {
  for (const Header& header : headers) {
    if (equal_ignoring_case(header.name, name)) return &header.value;
  }
  return nullptr;
}

std::string_view reason_phrase(int status) {
  const auto found = std::lower_bound(k_phrases.begin(), k_phrases.end(), status,
                                      [](const Phrase& a, int b) { return a.status < b; });
  return found != k_phrases.end() && found->status == status ? found->text : "Unknown";
}

const std::string* Target::parameter(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return &value;
  }
  return nullptr;
}

bool parse_target(std::string_view text, Target& target) {
  target = {};
  if (text.empty() || text[0] != '/') return false;
  const bool is_plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127 && c != '#'; });
  if (!is_plain) return false;
  const size_t mark = text.find('?');
  if (!parse_path(text.substr(0, mark), target.segments)) return false;
  return mark == std::string_view::npos || parse_query(text.substr(mark + 1), target.query);
}

std::string escape_segment(std::string_view text) {
  constexpr std::string_view k_digits = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += k_digits[byte >> 4];
      out += k_digits[byte & 15];
    }
  }
  return out;
}

}  // namespace spillway::net
