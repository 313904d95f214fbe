#include "cli/demo_screen.h"

#include <algorithm>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/demo_say.h"

namespace spillway::cli {
namespace {

constexpr Duration k_between_lines = minutes(5);

// Rows, of a terminal that is wide enough; 0: it is none, or too narrow.
size_t rows_of(size_t width) {
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  winsize size{};
  const bool is_known =
      ::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return is_known && !is_dumb && size.ws_col >= width ? size.ws_row : 0;
}

}  // namespace

Screen::Screen() : look_(look_of_environment()) {
  constexpr size_t k_most_node_lines = 10;
  const size_t rows = rows_of(k_chart_width);
  is_terminal_ = rows > k_chart_lines + 1;  // the last one is the cursor's
  if (is_terminal_) node_lines_ = std::min(k_most_node_lines, rows - 1 - k_chart_lines);
}

void Screen::show(const Seen& seen) { is_terminal_ ? draw_over(seen) : add_line(seen); }

// In one piece, so that nothing flickers.
void Screen::draw_over(const Seen& seen) {
  std::string text = drawn_ == 0 ? "\n" : fmt::format("\033[{}A", drawn_);
  const std::vector<std::string> lines = chart(seen, look_, node_lines_);
  for (const std::string& line : lines) text += line + "\033[K\n";
  drawn_ = lines.size();
  empty_ = static_cast<size_t>(
      std::find_if(lines.rbegin(), lines.rend(), [](const auto& line) { return !line.empty(); }) -
      lines.rbegin());
  say("{}", text);
}

void Screen::close() {
  if (empty_ > 0) say("\033[{}A", empty_);
}

void Screen::add_line(const Seen& seen) {
  if (drawn_ == 0) say("\n{}\n", plain_titles(seen));
  if (seen.at < next_) return;
  drawn_ += 1;
  next_ = next_ + k_between_lines;
  say("{}\n", plain_line(seen));
}

}  // namespace spillway::cli
