// Milliseconds of a clock that never jumps, to within a few: what deadlines are measured by.
#pragma once

#include <cstdint>
#include <ctime>

namespace spillway::net {

inline int64_t steady_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return static_cast<int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1'000'000;
}

}  // namespace spillway::net
