// Doubt: what a number counts as when it is old, or missing.
//
// Assumptions
//   - a provider chooses what it states and whether it can be reached: silence must not pay. So
//     what is missing counts as the worst, and what is stated worse than the worst counts no worse
//     than it. Hard rules and caps look at what was stated all the same.
//   - failures are the consumer's own record, which no provider can hide: they have no bound. A
//     provider that was never tried counts as if it had just failed once.
//   - a claim that is dated in the future is none, or it would never grow old.
// Algorithm
//   A number counts as it is while fresh; then it moves to the worst, in proportion to its age,
//   and is there when it is stale.
//   Failures decay by half-life: 2^-(age / half-life) from a table of sixteenths, with straight
//   lines between them; within 0.03 %, and never more for a greater age.
// Ties
//   None.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "model/energy.h"
#include "model/resources.h"
#include "rank/option.h"

namespace spillway::rank {

// Beyond what model/limits.h says of lignite. The broker's queries assume coal (rank/cost.h), for
// they serve buyers with other minds; here honest lignite must not lose to silence.
inline constexpr int64_t k_worst_carbon = 1'500;  // gCO2e per kWh
// A core of a small machine that has few, a GPU of the largest kind, and a unit at all: each with
// its share of the machine, so that hardly anyone states more in good faith.
inline constexpr int64_t k_worst_milliwatts_per_core = 25'000;
inline constexpr int64_t k_worst_milliwatts_per_gpu = 1'000'000;
inline constexpr int64_t k_worst_milliwatts_per_unit = 25'000;
// Around the Earth and back by fibre, twice.
inline constexpr int64_t k_worst_round_trip_us = 400'000;
inline constexpr int64_t k_longest_round_trip_us = 3'600'000'000;  // beyond, nobody counts
inline constexpr Duration k_worst_silence = hours(1);
inline constexpr int64_t k_one_failure = 1'000'000;
inline constexpr int64_t k_untried_failures = k_one_failure;

inline constexpr Duration k_carbon_fresh = hours(1);
inline constexpr Duration k_carbon_stale = hours(24);
inline constexpr Duration k_round_trip_fresh = minutes(10);
inline constexpr Duration k_round_trip_stale = hours(24);
inline constexpr Duration k_clock_skew = minutes(5);

// What was stated or measured, and what it counts as.
struct Counted {
  std::optional<int64_t> said;
  int64_t value = 0;
  Duration age;
  bool estimated() const { return !said.has_value(); }
  bool operator==(const Counted&) const = default;
};

Counted counted_carbon(const std::optional<model::Energy>& energy, Instant now);  // g/kWh
Counted counted_milliwatts(const std::optional<model::Energy>& energy,
                           const model::Resources& shape);
Counted counted_round_trip(const std::optional<RoundTrip>& reading, Instant now);  // microseconds
Counted counted_failures(const std::optional<Failures>& failures, Duration half_life, Instant now);
Counted counted_silence(const std::optional<Instant>& heard, Instant now);  // milliseconds

// What is left of `amount` after `age`; rounded up, so that nothing is forgotten at once.
int64_t decayed(int64_t amount, Duration age, Duration half_life);

// The memory of a provider after one more try.
Failures after_failure(const std::optional<Failures>& before, Duration half_life, Instant now);
Failures after_success(const std::optional<Failures>& before, Duration half_life, Instant now);

}  // namespace spillway::rank
