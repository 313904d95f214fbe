// When a lease that was not renewed is said to end: at each of the distances that the rules name,
// the farthest first, each at most once for a lease. What lies behind already is not made up for: a
// broker that was away says it once, and goes on with the distances that are left.
#pragma once

#include <optional>

#include "market/records.h"
#include "market/rules.h"

namespace spillway::market {

inline Duration distance_of(const EndingDistance& distance, Duration lease) {
  if (distance.percent == 0) return distance.time;
  return Duration{lease.ms / 100 * distance.percent + lease.ms % 100 * distance.percent / 100};
}

// The first after `now`, before the end of the present lease. None: it is not said any more.
inline std::optional<Instant> next_ending_notice(const model::Contract& contract,
                                                 const Rules& rules, Instant now) {
  std::optional<Instant> next;
  for (const EndingDistance& distance : rules.ending_notices) {
    const Instant at = contract.deadline - distance_of(distance, contract.terms.lease);
    if (at <= now || at >= contract.deadline) continue;
    if (!next || at < *next) next = at;
  }
  return next;
}

}  // namespace spillway::market
