#include "pki/base64url.h"

#include <cstdint>

namespace spillway::pki {
namespace {

constexpr std::string_view k_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// Digit by range, not by a table, so that the secret does not choose the memory that is read.
int digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '-') return 62;
  if (c == '_') return 63;
  return -1;
}

}  // namespace

Secret to_base64url(std::string_view bytes) {
  Secret text = Secret::of_size((bytes.size() * 4 + 2) / 3);
  size_t at = 0;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    count += 8;
    while (count >= 6) {
      count -= 6;
      text.data()[at++] = k_alphabet[(bits >> count) & 63];
    }
  }
  if (count > 0) text.data()[at] = k_alphabet[(bits << (6 - count)) & 63];
  return text;
}

std::optional<Secret> from_base64url(std::string_view text) {
  if (text.size() % 4 == 1) return std::nullopt;
  Secret bytes = Secret::of_size(text.size() * 3 / 4);
  size_t at = 0;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int value = digit(c);
    if (value < 0) return std::nullopt;
    bits = (bits << 6) | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.data()[at++] = static_cast<char>((bits >> count) & 255);
    }
  }
  // What is left over must be zero, or two texts would mean the same bytes.
  if ((bits & ((1U << count) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace spillway::pki
