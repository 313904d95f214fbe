// Times as people ask about them: how long until, how long ago.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"

namespace spillway::cli {

// "in 4m59s", "3h ago", "in 12d", "now": the largest unit, with the next finer one below ten of it;
// rounded to the nearest, so that a lease of five minutes that was just made ends in 5m.
std::string relative(Instant when, Instant now);

// How a verb shows times: relative, or RFC 3339 with -o wide.
struct Clock {
  Instant now;
  bool exact = false;

  std::string operator()(Instant when) const;
  std::string operator()(const std::optional<Instant>& when) const {
    return when ? (*this)(*when) : std::string();
  }
};

// "2026-01-31", "2026-01-31T12:00:00Z", or so long ago: "7d".
Result<Instant> parse_when(std::string_view text, Instant now);
Instant month_of(Instant when);         // its first moment, in UTC
std::string short_time(Duration time);  // "1h30m", without what is finer than a second

Instant now();  // the system's

}  // namespace spillway::cli
