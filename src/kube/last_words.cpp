#include "kube/last_words.h"

#include <algorithm>

namespace spillway::kube {
namespace {

constexpr size_t k_most_shown = 240;
// Longer than a UUID, shorter than any token that is worth stealing.
constexpr size_t k_secret_bytes = 40;

bool is_shown(char c) { return c >= ' ' && c <= '~'; }

// Base64 of both kinds. Not the dot and the slash: names of hosts and paths must stay.
bool is_of_token(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '+' || c == '=';
}

// Takes the last line that is not blank off the end.
std::string_view take_last_line(std::string_view& text) {
  while (!text.empty() && !(is_shown(text.back()) && text.back() != ' ')) text.remove_suffix(1);
  const size_t before = text.find_last_of('\n');
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::string_view line = text.substr(begin);
  text = text.substr(0, begin);
  return line;
}

std::string without_secrets(std::string_view line) {
  std::string shown;
  while (!line.empty()) {
    const auto end = std::find_if_not(line.begin(), line.end(), is_of_token);
    const auto word = static_cast<size_t>(end - line.begin());
    if (word >= k_secret_bytes) {
      shown += "...";
    } else {
      shown += line.substr(0, word);
    }
    line.remove_prefix(word);
    if (line.empty()) break;
    shown += is_shown(line.front()) ? line.front() : '?';
    line.remove_prefix(1);
  }
  return shown;
}

}  // namespace

std::string last_words(std::string_view complaints) {
  const std::string_view last = take_last_line(complaints);
  const std::string_view before = take_last_line(complaints);
  std::string shown = without_secrets(last);
  if (!before.empty()) shown = without_secrets(before) + " / " + shown;
  // Its end says more than its beginning: most programs name the cause last.
  if (shown.size() > k_most_shown) shown = "..." + shown.substr(shown.size() - k_most_shown);
  return shown;
}

}  // namespace spillway::kube
