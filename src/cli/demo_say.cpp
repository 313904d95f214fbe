#include "cli/demo_say.h"

#include <algorithm>

#include "cli/demo_chart.h"
#include "cli/safe_text.h"
#include "cli/table.h"

namespace spillway::cli {
namespace {

constexpr size_t k_width = 80;

}  // namespace

std::string wrapped(std::string_view text, size_t indent) {
  std::string lines;
  std::string line;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' ', text.find_first_not_of(' ')), text.size());
    const std::string_view word = text.substr(0, end);
    if (!line.empty() && columns(line) + columns(word) > k_width) {
      lines += line + "\n";
      line = std::string(indent, ' ') + std::string(word.substr(word.find_first_not_of(' ')));
    } else {
      line += word;
    }
    text.remove_prefix(end);
  }
  return lines + line + "\n";
}

void say_chapter(std::string_view title) {
  const bool bold = terminal_width() > 0 && look_of_environment().colour;
  say("\n{}{}{}\n", bold ? "\033[1m" : "", title, bold ? "\033[0m" : "");
}

}  // namespace spillway::cli
