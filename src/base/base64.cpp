#include "base/base64.h"

#include <array>
#include <cstdint>

namespace spillway {
namespace {

constexpr std::string_view k_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t k_no_digit = 64;

// What each character stands for.
constexpr std::array<uint8_t, 256> values_of_digits() {
  std::array<uint8_t, 256> values{};
  values.fill(k_no_digit);
  for (size_t i = 0; i < k_digits.size(); ++i) {
    values[static_cast<unsigned char>(k_digits[i])] = static_cast<uint8_t>(i);
  }
  return values;
}
constexpr std::array<uint8_t, 256> k_values = values_of_digits();

}  // namespace

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int count = 0;
  size_t digits = 0;
  size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const uint8_t digit = k_values[static_cast<unsigned char>(c)];
    if (digit == k_no_digit || padding > 0) return std::nullopt;
    ++digits;
    bits = bits << 6 | digit;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  const bool is_whole = (digits + padding) % 4 == 0 && padding <= 2 && digits % 4 != 1;
  const bool has_rest = (bits & ((uint32_t{1} << count) - 1)) != 0;  // two texts for the same bytes
  if (!is_whole || has_rest) return std::nullopt;
  return bytes;
}

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      const auto byte = i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U;
      group = group << 8 | byte;
    }
    for (size_t j = 0; j < 4; ++j) {
      text += i + j > bytes.size() ? '=' : k_digits[group >> (18 - 6 * j) & 63];
    }
  }
  return text;
}

}  // namespace spillway
