// Cost: what a candidate costs its buyer per unit-hour, as a sum of terms in one currency.
//
// Assumptions
//   - the intent passed model::validate, so nothing in it is negative.
//   - silence must not pay: who states no carbon intensity is counted with that of coal, who states
//     no power with an estimate from the shape. Such terms say that they are estimated.
// Algorithm
//   money     hourly rate × money_permille / 1000
//   carbon    power of a unit (mW) × carbon intensity now (g/kWh) × worth of a kilogram / 10^9
//   distance  metres × worth of 1000 km / 10^6
//   Each is rounded up once, to the micro-unit. Validation bounds every factor, so sums fit.
//   A term exists only if the intent gives it a worth; money always does.
// Ties
//   None here: terms are exact integers. A term may bound its amount more cheaply than it computes
//   it; bounds only save work and never decide.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/intent.h"
#include "rank/catalogue.h"

namespace spillway::rank {

// A core in full use, where a provider states no power: the upper end that the Cloud Carbon
// Footprint method gives for a virtual CPU of a large cloud. A GPU: the order of its rated power.
inline constexpr int64_t k_estimated_milliwatts_per_core = 3'500;
inline constexpr int64_t k_estimated_milliwatts_per_gpu = 300'000;
// Coal over its life cycle, median (IPCC AR5 WG III, Annex III).
inline constexpr int32_t k_assumed_carbon = 820;

// A number that was stated, or one that we put in its place.
struct Stated {
  int64_t value = 0;
  bool estimated = false;
};
Stated milliwatts_of(const Row& row);
Stated carbon_of(const Row& row, Instant now);

struct Term {
  std::string_view name;
  int64_t amount = 0;      // micro-units per unit-hour
  std::string how;         // "12.4 W × 231 g/kWh × 0.1 EUR/kg"
  bool estimated = false;  // a number in it was not stated by the provider
  bool operator==(const Term&) const = default;
};

class CostTerm {
 public:
  struct Bounds {
    int64_t low = 0;
    int64_t high = 0;
  };

  virtual ~CostTerm() = default;
  virtual int64_t amount(const Row& row) const = 0;
  virtual Bounds bounds(const Row& row) const = 0;  // low <= amount <= high, and cheap
  virtual Term explain(const Row& row) const = 0;   // with the same amount
};

// In the order money, carbon, distance. The intent must outlive them.
std::vector<std::unique_ptr<CostTerm>> cost_terms(const model::Intent& intent, Instant now);

}  // namespace spillway::rank
