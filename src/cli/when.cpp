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

uint64_t rounded(uint64_t ms, int64_t unit) {
  const auto one = static_cast<uint64_t>(unit);
  return ms / one + (ms % one >= (one + 1) / 2 ? 1 : 0);
}

// Empty: less than a second.
std::string length_text(uint64_t ms) {
  constexpr uint64_t k_few = 10;
  if (ms < 1000) return {};
  for (size_t i = 0; i + 1 < k_units.size(); ++i) {
    const TimeUnit& unit = k_units[i];
    const TimeUnit& finer = k_units[i + 1];
    const auto parts = static_cast<uint64_t>(unit.ms / finer.ms);
    const uint64_t in_finer = rounded(ms, finer.ms);
    if (in_finer < parts) continue;
    if (in_finer / parts >= k_few) return fmt::format("{}{}", rounded(ms, unit.ms), unit.name);
    const uint64_t rest = in_finer % parts;
    return fmt::format("{}{}", in_finer / parts, unit.name) +
           (rest == 0 ? std::string() : fmt::format("{}{}", rest, finer.name));
  }
  return fmt::format("{}s", rounded(ms, k_units.back().ms));
}

}  // namespace

std::string relative(Instant when, Instant now) {
  // Not by subtraction of what others state: it might leave the range.
  const bool later = when >= now;
  const auto distance = later ? static_cast<uint64_t>(when.ms) - static_cast<uint64_t>(now.ms)
                              : static_cast<uint64_t>(now.ms) - static_cast<uint64_t>(when.ms);
  const std::string length = length_text(distance);
  if (length.empty()) return "now";
  return later ? "in " + length : length + " ago";
}

std::string Clock::operator()(Instant when) const {
  return exact ? to_text(when) : relative(when, now);
}

Result<Instant> parse_when(std::string_view text, Instant now) {
  if (const auto ago = parse_duration(text); ago && ago->ms <= now.ms) return now - *ago;
  const bool is_date = text.size() == 10 && text.find('T') == std::string_view::npos;
  auto when = parse_instant(is_date ? std::string(text) + "T00:00:00Z" : std::string(text));
  if (when) return when;
  return fail(Code::invalid, fmt::format("'{}'", text), "it is no time",
              "write 2026-01-31, 2026-01-31T12:00:00Z or how long ago, such as 7d");
}

Instant month_of(Instant when) {
  using std::chrono::floor;
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(when.ms)};
  const std::chrono::year_month_day day(floor<std::chrono::days>(time));
  const std::chrono::sys_days first(day.year() / day.month() / 1);
  return {std::chrono::duration_cast<std::chrono::milliseconds>(first.time_since_epoch()).count()};
}

std::string short_time(Duration time) {
  return time.ms < 1000 ? to_text(time) : to_text(Duration{time.ms - time.ms % 1000});
}

Instant now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
}

}  // namespace spillway::cli
