#include "cli/safe_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace spillway::cli {
namespace {

struct Range {
  uint32_t first;
  uint32_t last;
};

// Controls, marks of direction, separators of lines, joiners, tags, and what is for private use.
constexpr std::array k_hidden{
    Range{0x0000, 0x001f}, Range{0x007f, 0x009f},    Range{0x00ad, 0x00ad}, Range{0x061c, 0x061c},
    Range{0x180e, 0x180e}, Range{0x200b, 0x200f},    Range{0x2028, 0x202e}, Range{0x2060, 0x206f},
    Range{0xe000, 0xf8ff}, Range{0xfe00, 0xfe0f},    Range{0xfeff, 0xfeff}, Range{0xfff0, 0xfffb},
    Range{0xfffe, 0xffff}, Range{0xe0000, 0x10ffff},
};
constexpr std::array k_wide{
    Range{0x1100, 0x115f},   Range{0x2e80, 0xa4cf},   Range{0xac00, 0xd7a3},
    Range{0xf900, 0xfaff},   Range{0xfe30, 0xfe6f},   Range{0xff00, 0xff60},
    Range{0xffe0, 0xffe6},   Range{0x1f300, 0x1f64f}, Range{0x1f900, 0x1f9ff},
    Range{0x20000, 0x3fffd},
};
constexpr std::array k_combining{
    Range{0x0300, 0x036f}, Range{0x0483, 0x0489}, Range{0x0591, 0x05bd}, Range{0x064b, 0x065f},
    Range{0x1ab0, 0x1aff}, Range{0x1dc0, 0x1dff}, Range{0x20d0, 0x20ff}, Range{0xfe20, 0xfe2f},
};

template <size_t N>
bool is_in(const std::array<Range, N>& ranges, uint32_t point) {
  return std::any_of(ranges.begin(), ranges.end(), [point](const Range& range) {
    return point >= range.first && point <= range.last;
  });
}

struct Point {
  uint32_t value = 0;
  size_t bytes = 1;
  bool valid = false;
};

// The code point that `text` begins with; RFC 3629 to the letter.
Point first_point(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[i])); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {lead, 1, false};
  uint32_t value = lead & (0x7fU >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {lead, 1, false};
    value = (value << 6U) | (byte(i) & 0x3fU);
  }
  constexpr std::array<uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  if (value < least[size] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) {
    return {lead, 1, false};
  }
  return {value, size, true};
}

size_t columns_of(uint32_t point) {
  if (is_in(k_combining, point)) return 0;
  return is_in(k_wide, point) ? 2 : 1;
}

// For JSON, in the form that it has for them.
std::string json_escape(uint32_t point) {
  if (point < 0x10000) return fmt::format("\\u{:04x}", point);
  const uint32_t rest = point - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10U), 0xdc00 + (rest & 0x3ffU));
}

template <class Bad, class Hidden>
std::string replace(std::string_view text, Bad bad, Hidden hidden) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Point point = first_point(text);
    if (!point.valid) {
      out += bad(point.value);
    } else if (is_in(k_hidden, point.value)) {
      out += hidden(point.value);
    } else {
      out += text.substr(0, point.bytes);
    }
    text.remove_prefix(point.bytes);
  }
  return out;
}

}  // namespace

std::string safe(std::string_view text) {
  return replace(
      text, [](uint32_t byte) { return fmt::format("\\x{:02x}", byte); },
      [](uint32_t point) {
        return point < 0x80 ? fmt::format("\\x{:02x}", point) : fmt::format("\\u{{{:x}}}", point);
      });
}

std::string safe_json(std::string_view json) {
  // Between its strings a document has white space, which is no danger and must stay.
  return replace(
      json, [](uint32_t) { return std::string("\\ufffd"); },
      [](uint32_t point) {
        const bool is_space = point == '\n' || point == '\t' || point == '\r';
        return is_space ? std::string(1, static_cast<char>(point)) : json_escape(point);
      });
}

size_t columns(std::string_view text) {
  size_t count = 0;
  while (!text.empty()) {
    const Point point = first_point(text);
    count += columns_of(point.value);
    text.remove_prefix(point.bytes);
  }
  return count;
}

std::string cut(std::string_view text, size_t most) {
  if (columns(text) <= most) return std::string(text);
  if (most == 0) return {};
  size_t taken = 0;
  size_t used = 0;
  while (taken < text.size()) {
    const Point point = first_point(text.substr(taken));
    if (used + columns_of(point.value) > most - 1) break;
    used += columns_of(point.value);
    taken += point.bytes;
  }
  return std::string(text.substr(0, taken)) + "…";
}

std::string hide_tokens(std::string_view text) {
  constexpr std::string_view k_mark = "swt1.";
  std::string out;
  while (true) {
    const size_t at = text.find(k_mark);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += "swt1.…";
    text.remove_prefix(at + k_mark.size());
    const auto is_part = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '_' || c == '.';
    };
    text.remove_prefix(
        static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_part) - text.begin()));
  }
}

}  // namespace spillway::cli
