#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace spillway {
namespace {

constexpr size_t k_shown_bytes = 60;
// Longer words are not compared: no word of ours is as long, and the cost is quadratic.
constexpr size_t k_longest_word = 64;

uint8_t byte_at(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]); }

bool continues(std::string_view text, size_t i) {
  return i < text.size() && (byte_at(text, i) & 0xC0) == 0x80;
}

// Bytes of the UTF-8 sequence at `i`; 0 when there is none.
size_t sequence_at(std::string_view text, size_t i) {
  const uint8_t first = byte_at(text, i);
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;
  if (first < 0xE0) return continues(text, i + 1) ? 2 : 0;
  if (!continues(text, i + 1) || !continues(text, i + 2)) return 0;
  const uint8_t second = byte_at(text, i + 1);
  if (first < 0xF0) {
    if (first == 0xE0 && second < 0xA0) return 0;
    if (first == 0xED && second >= 0xA0) return 0;
    return 3;
  }
  if (first > 0xF4 || !continues(text, i + 3)) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second >= 0x90) return 0;
  return 4;
}

bool is_control(uint8_t byte) { return byte < 0x20 || byte == 0x7F; }

size_t edit_distance(std::string_view a, std::string_view b) {
  std::array<size_t, k_longest_word + 1> row{};
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

bool is_utf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    // Nearly all text is ASCII: eight bytes at a time while no high bit is set.
    while (i + 8 <= text.size()) {
      uint64_t word = 0;
      std::memcpy(&word, text.data() + i, sizeof word);
      if ((word & 0x8080808080808080ULL) != 0) break;
      i += 8;
    }
    if (i >= text.size()) break;
    const size_t length = sequence_at(text, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

bool is_printable(std::string_view text) {
  return is_utf8(text) && std::none_of(text.begin(), text.end(),
                                       [](char c) { return is_control(static_cast<uint8_t>(c)); });
}

void cut_to(std::string& text, size_t most) {
  if (text.size() <= most) return;
  text.resize(most);
  while (!is_utf8(text)) text.pop_back();  // a character is cut
}

std::string name_few(std::span<const std::string> names) {
  constexpr size_t k_few = 8;
  std::string text;
  for (const std::string& name : names.first(std::min(names.size(), k_few))) {
    text += (text.empty() ? "" : ", ") + (is_printable(name) ? name : in_quotes(name));
  }
  return names.size() > k_few ? text + ", …" : text;
}

std::string in_quotes(std::string_view text) {
  std::string shown = "\"";
  size_t i = 0;
  while (i < text.size()) {
    const size_t length = sequence_at(text, i);
    if (i + std::max<size_t>(length, 1) > k_shown_bytes) {
      shown += "…";
      break;
    }
    if (length == 0 || is_control(byte_at(text, i))) {
      shown += fmt::format("\\x{:02x}", byte_at(text, i));
      ++i;
    } else {
      shown += text.substr(i, length);
      i += length;
    }
  }
  shown += '"';
  return shown;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > k_longest_word) return {};
  std::string_view best;
  size_t best_distance = std::clamp<size_t>(word.size() / 3, 1, 3) + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > k_longest_word) continue;
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace spillway
