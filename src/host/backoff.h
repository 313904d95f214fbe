// Backoff: how long to wait before trying again. Anywhere between the shortest wait and a ceiling
// that doubles with each failure, so that many who failed together do not come back together.
#pragma once

#include <algorithm>

#include "base/time.h"
#include "host/random.h"

namespace spillway::host {

inline constexpr Duration k_shortest_wait = milliseconds(100);
inline constexpr Duration k_longest_wait = seconds(30);
inline constexpr Duration k_refused_wait = seconds(60);  // for what will hardly be taken unchanged
// A request that nobody waits for any more may still be heard: from its connection on, so long.
inline constexpr Duration k_under_way = seconds(40);

// Evenly between the two, both included.
inline Duration between(Random& random, Duration low, Duration high) {
  if (high <= low) return low;
  const auto range = static_cast<uint64_t>(high.ms - low.ms) + 1;
  return {low.ms + static_cast<int64_t>(below(random, range))};
}

class Backoff {
 public:
  Duration next(Random& random, Duration longest = k_longest_wait) {
    constexpr int k_doublings = 20;  // far beyond any longest wait, far from overflow
    const Duration ceiling{k_shortest_wait.ms << std::min(failures_ + 1, k_doublings)};
    failures_ += 1;
    return between(random, k_shortest_wait, std::min(ceiling, longest));
  }
  void reset() { failures_ = 0; }
  int failures() const { return failures_; }

 private:
  int failures_ = 0;
};

}  // namespace spillway::host
