// Hours: when there is something on sale. Daily windows in UTC; one that ends before it begins runs
// over midnight and belongs to the day on which it began. Without any window it is always.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace spillway::supply {

enum class Weekday : uint8_t { mon, tue, wed, thu, fri, sat, sun };

// Minutes from midnight, written "18:30"; 24:00 ends a day.
struct TimeOfDay {
  int32_t minutes = 0;
  auto operator<=>(const TimeOfDay&) const = default;
};
inline constexpr int32_t k_day_minutes = 24 * 60;

struct Window {
  std::vector<Weekday> days;  // empty: all
  TimeOfDay from;
  TimeOfDay to{k_day_minutes};
  bool operator==(const Window&) const = default;
};
using Hours = std::vector<Window>;

Status validate(const Window& window);

bool is_open(const Hours& hours, Instant now);

// When is_open() next answers otherwise; none when it never does.
std::optional<Instant> next_change(const Hours& hours, Instant now);

}  // namespace spillway::supply
