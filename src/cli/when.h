// Times as people ask about them: how long until, how long ago.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"

namespace spillway::cli {

// "in 4m", "3h ago", "now": the largest unit, rounded towards now.
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

Instant now();  // the system's

}  // namespace spillway::cli
