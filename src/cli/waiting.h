// A clock that nobody sets, and waiting by it.
#pragma once

#include <chrono>
#include <functional>

#include "base/result.h"

namespace spillway::cli {

using Moment = std::chrono::steady_clock::time_point;

Moment clock_now();
double ms_between(Moment from, Moment to);

// Asks `is_done` every `look` until it is; false: not within `patience`. An error ends it, too.
Result<bool> wait_until(std::chrono::milliseconds patience, std::chrono::milliseconds look,
                        const std::function<Result<bool>()>& is_done);

}  // namespace spillway::cli
