#include "base/shell_text.h"

namespace spillway {

std::string shell_quoted(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view k_plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+@%";
  const bool is_plain = text.find_first_not_of(k_plain) == std::string_view::npos;
  return is_plain && !text.empty() ? std::string(text) : shell_quoted(text);
}

}  // namespace spillway
