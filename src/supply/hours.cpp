#include "supply/hours.h"

#include <algorithm>

#include "model/validation.h"

namespace spillway::supply {
namespace {

constexpr int64_t k_minute_ms = 60'000;
constexpr int64_t k_day_ms = int64_t{k_day_minutes} * k_minute_ms;
constexpr int64_t k_week = 7;
constexpr int64_t k_first_day = 3;  // 1970-01-01 was a Thursday

// Rounded down, also before 1970.
int64_t day_of(Instant t) {
  const int64_t day = t.ms / k_day_ms;
  return t.ms % k_day_ms < 0 ? day - 1 : day;
}

bool opens_on(const Window& window, int64_t day) {
  if (window.days.empty()) return true;
  const auto weekday = static_cast<Weekday>(((day + k_first_day) % k_week + k_week) % k_week);
  return std::find(window.days.begin(), window.days.end(), weekday) != window.days.end();
}

struct Span {
  Instant from;
  Instant to;  // excluded
};

Span span_on(const Window& window, int64_t day) {
  const int64_t midnight = day * k_day_ms;
  const int64_t to_minutes =
      window.to > window.from ? window.to.minutes : int64_t{window.to.minutes} + k_day_minutes;
  return {Instant{midnight + window.from.minutes * k_minute_ms},
          Instant{midnight + to_minutes * k_minute_ms}};
}

}  // namespace

Status validate(const Window& window) {
  SPILLWAY_TRY(model::check_range("from", window.from.minutes, 0, k_day_minutes - 1));
  SPILLWAY_TRY(model::check_range("to", window.to.minutes, 0, k_day_minutes));
  if (window.from == window.to) {
    return model::refuse("to", "the window ends when it begins",
                         "write 00:00 to 24:00 for whole days");
  }
  return model::check_size("days", window.days.size(), static_cast<size_t>(k_week));
}

bool is_open(const Hours& hours, Instant now) {
  if (hours.empty()) return true;
  const int64_t today = day_of(now);
  for (const Window& window : hours) {
    for (const int64_t day : {today - 1, today}) {
      if (!opens_on(window, day)) continue;
      const Span span = span_on(window, day);
      if (span.from <= now && now < span.to) return true;
    }
  }
  return false;
}

std::optional<Instant> next_change(const Hours& hours, Instant now) {
  const bool open = is_open(hours, now);
  const int64_t today = day_of(now);
  std::optional<Instant> next;
  for (const Window& window : hours) {
    for (int64_t day = today - 1; day <= today + k_week + 1; ++day) {
      if (!opens_on(window, day)) continue;
      const Span span = span_on(window, day);
      // Where one window ends another may go on.
      for (const Instant edge : {span.from, span.to}) {
        if (edge > now && is_open(hours, edge) != open && (!next || edge < *next)) next = edge;
      }
    }
  }
  return next;
}

}  // namespace spillway::supply
