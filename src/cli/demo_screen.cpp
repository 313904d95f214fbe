#include "cli/demo_screen.h"

#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/demo_say.h"

namespace spillway::cli {
namespace {

constexpr Duration k_between_lines = minutes(5);

bool has_room_for(size_t lines, size_t width) {
  winsize size{};
  return ::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
         size.ws_col >= width && size.ws_row > lines;
}

}  // namespace

Screen::Screen() : look_(look_of_environment()) {
  constexpr size_t k_chart_lines = 20;  // at most
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  is_terminal_ = !is_dumb && has_room_for(k_chart_lines, k_chart_width);
}

void Screen::show(const Seen& seen) { is_terminal_ ? draw_over(seen) : add_line(seen); }

// In one piece, so that nothing flickers.
void Screen::draw_over(const Seen& seen) {
  std::string text = drawn_ == 0 ? "\n" : fmt::format("\033[{}A", drawn_);
  const std::vector<std::string> lines = chart(seen, look_);
  for (const std::string& line : lines) text += line + "\033[K\n";
  drawn_ = lines.size();
  say("{}", text);
}

void Screen::add_line(const Seen& seen) {
  if (drawn_ == 0) say("\n{}\n", plain_titles(seen));
  if (seen.at < next_) return;
  drawn_ += 1;
  next_ = next_ + k_between_lines;
  say("{}\n", plain_line(seen));
}

}  // namespace spillway::cli
