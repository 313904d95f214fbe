// How the demo speaks: at once, so that a reader sees things as they happen.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace spillway::cli {

template <class... Args>
void say(fmt::format_string<Args...> text, Args&&... args) {
  fmt::print(text, std::forward<Args>(args)...);
  std::fflush(stdout);  // whether it got out is asked of stdout at the end
}

void say_chapter(std::string_view title);
// Broken into lines of at most 80 columns; those after the first are indented.
std::string wrapped(std::string_view text, size_t indent);

}  // namespace spillway::cli
