// How the demo speaks: at once, so that a reader sees things as they happen.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "services/wire/bodies.h"

namespace spillway::cli {

template <class... Args>
void say(fmt::format_string<Args...> text, Args&&... args) {
  fmt::print(text, std::forward<Args>(args)...);
  std::fflush(stdout);  // whether it got out is asked of stdout at the end
}

void say_chapter(std::string_view title);
// Broken into lines of at most 80 columns; those after the first are indented.
void say_wrapped(std::string_view text, size_t indent);
// Time to read, for a person at a terminal.
void breathe();

std::string usd(int64_t micros);  // two decimals

// What is on sale, as a buyer sees it.
std::string sale_text(const wire::QueryAnswer& told, const wire::OfferPage& offers);
// Every offer with what it costs this buyer and how that comes about, or what ruled it out.
std::string choice_text(const wire::QueryAnswer& told);

}  // namespace spillway::cli
