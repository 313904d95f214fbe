#include "cli/when.h"

#include <array>
#include <chrono>
#include <string_view>

#include <fmt/format.h>

namespace spillway::cli {
namespace {

struct TimeUnit {
  int64_t ms;
  std::string_view name;
};

constexpr std::array k_units{TimeUnit{86'400'000, "d"}, TimeUnit{3'600'000, "h"},
                             TimeUnit{60'000, "m"}, TimeUnit{1000, "s"}};

}  // namespace

std::string relative(Instant when, Instant now) {
  // Not by subtraction of what others state: it might leave the range.
  const bool later = when >= now;
  const auto distance = later ? static_cast<uint64_t>(when.ms) - static_cast<uint64_t>(now.ms)
                              : static_cast<uint64_t>(now.ms) - static_cast<uint64_t>(when.ms);
  for (const TimeUnit& unit : k_units) {
    const uint64_t count = distance / static_cast<uint64_t>(unit.ms);
    if (count == 0) continue;
    return later ? fmt::format("in {}{}", count, unit.name)
                 : fmt::format("{}{} ago", count, unit.name);
  }
  return "now";
}

std::string Clock::operator()(Instant when) const {
  return exact ? to_text(when) : relative(when, now);
}

Instant now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
}

}  // namespace spillway::cli
