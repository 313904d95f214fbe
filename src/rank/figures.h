// Figures: what an option comes down to, and what it scores for a workload.
//
// Assumptions
//   - figures were made at the moment of the question: what is old grows older (rank/doubt.h).
// Algorithm
//   money       rate × the longer of expected time and minimum term, and egress price × GiB
//   carbon      power × intensity × expected time
//   round trip  microseconds × expected time
//   failures    as remembered; silence as it is: neither grows with time
//   A tier's amount is the sum of these, each times its worth, each rounded up once to the
//   micro-unit. Then it is counted in whole steps, rounded up.
//   Scoring reads one line of memory, multiplies and adds: no branch depends on an offer.
// Ties
//   Counted amounts tier by tier; then exact ones tier by tier; then who had to be estimated in
//   fewer figures; then less money; then the lower rate; then the lesser offer id (recommend.cpp).
//   So whatever the weights are, of two that differ in price only the cheaper comes first.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>

#include "model/price.h"
#include "rank/doubt.h"
#include "rank/fixed.h"
#include "rank/policy.h"

namespace spillway::rank {

struct Figures {
  int64_t rate = 0;  // micro-units per unit-hour
  int64_t minimum_term_ms = 0;
  int64_t egress_gib_price = 0;
  int64_t milliwatt_grams = 0;  // mW × g/kWh
  int64_t round_trip_us = 0;
  int64_t failures_micros = 0;
  int64_t silence_ms = 0;
  int64_t estimated =
      0;  // of power, intensity, round trip, failures, silence: how many are unknown
};

Figures figures_of(const Option& option, Duration failure_half_life, Instant now);

// For one unit over the expected time.
struct Amounts {
  int64_t money = 0;       // micro-units
  int64_t carbon = 0;      // milligrams
  int64_t round_trip = 0;  // microseconds × hours
  int64_t failures = 0;    // millionths
  int64_t silence = 0;     // milliseconds
};

struct Score {
  std::array<int64_t, k_max_tiers> counted{};  // in steps
  std::array<int64_t, k_max_tiers> exact{};    // micro-units
  int64_t estimated = 0;
  int64_t money = 0;
  int64_t rate = 0;
  auto operator<=>(const Score&) const = default;
};

inline Amounts amounts_of(const Figures& figures, const Expectation& expect) {
  constexpr int64_t k_hour_ms = 3'600'000;
  constexpr int64_t k_one_gib = int64_t{1} << 30;
  const int64_t paid_ms = std::max(expect.time.ms, figures.minimum_term_ms);
  const int64_t charge = std::min(scaled_up<k_hour_ms>(figures.rate, paid_ms), model::k_max_charge);
  const int64_t egress = scaled_up<k_one_gib>(figures.egress_gib_price, expect.egress_bytes);
  return {.money = add_amounts(charge, egress),
          // mW × ms is a millionth of a joule, and 3.6 × 10^12 of these are a kWh.
          .carbon = scaled_up<k_hour_ms * 1000>(figures.milliwatt_grams, expect.time.ms),
          .round_trip = scaled_up<k_hour_ms>(figures.round_trip_us, expect.time.ms),
          .failures = figures.failures_micros,
          .silence = figures.silence_ms};
}

// One term's part in a tier's amount, in micro-units.
inline int64_t money_part(const Tier& tier, const Amounts& a) {
  return scaled_up<1000>(a.money, tier.money_permille);
}
inline int64_t carbon_part(const Tier& tier, const Amounts& a) {
  return scaled_up<1'000'000>(a.carbon, tier.carbon_kg);
}
inline int64_t round_trip_part(const Tier& tier, const Amounts& a) {
  return scaled_up<1000>(a.round_trip, tier.round_trip_ms);
}
inline int64_t failures_part(const Tier& tier, const Amounts& a) {
  return scaled_up<1'000'000>(a.failures, tier.failure);
}
inline int64_t silence_part(const Tier& tier, const Amounts& a) {
  return scaled_up<60'000>(a.silence, tier.silence_minute);
}

inline int64_t in_steps(int64_t amount, int64_t step) {
  return step <= 1 ? amount : (amount + step - 1) / step;
}

inline Score score_of(const Figures& figures, const Expectation& expect,
                      std::span<const Tier> tiers) {
  const Amounts amounts = amounts_of(figures, expect);
  Score score;
  for (size_t i = 0; i < tiers.size(); ++i) {
    const Tier& tier = tiers[i];
    score.exact[i] = money_part(tier, amounts) + carbon_part(tier, amounts) +
                     round_trip_part(tier, amounts) + failures_part(tier, amounts) +
                     silence_part(tier, amounts);
    score.counted[i] = in_steps(score.exact[i], tier.step);
  }
  score.estimated = figures.estimated;
  score.money = amounts.money;
  score.rate = figures.rate;
  return score;
}

// For an option that needs more units than the best of them: what it amounts to for the same work.
inline void multiply_score(Score& score, int64_t needed_permille, std::span<const Tier> tiers) {
  if (needed_permille == 1000) return;
  for (size_t i = 0; i < tiers.size(); ++i) {
    score.exact[i] = scaled_up<1000>(score.exact[i], needed_permille);
    score.counted[i] = in_steps(score.exact[i], tiers[i].step);
  }
  score.money = scaled_up<1000>(score.money, needed_permille);
}

}  // namespace spillway::rank
