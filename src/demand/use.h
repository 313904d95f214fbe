// Use: what a unit takes while it is held, and what units took that are held no longer, for caps
// that count hours, days and months.
//
// Assumptions
//   - nothing is metered: a unit takes its reserved price and declared carbon from when it was
//     asked for to when it was given back, and its price for the minimum term at least.
// Algorithm
//   What has ended is added up by hour of UTC, class of work and currency, each part rounded up:
//   a month is a few hundred sums, however many units came and went. Of a minimum term that goes on
//   after its unit only the next month counts: a term of years, hour by hour, is more than a state
//   can hold, and one provider would end all buying by it.
// Ties
//   None: sums.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/money.h"
#include "base/time.h"

namespace spillway::demand {

// Of one unit.
struct Use {
  std::string workload_class;  // for which it was bought; empty: not known, or none
  Currency currency;
  int64_t rate = 0;             // micro-units per hour
  int64_t milliwatt_grams = 0;  // mW × gCO2e/kWh, as declared
  Duration minimum_term;
  Instant started;
  bool operator==(const Use&) const = default;
};

// What ended units took of one hour.
struct PastHour {
  Instant hour;  // its beginning
  std::string workload_class;
  Currency currency;
  int64_t money = 0;       // micro-units
  int64_t milligrams = 0;  // of CO2e
  bool operator==(const PastHour&) const = default;
};

inline constexpr Duration k_past_is_kept = hours(32 * 24);  // longer than any month

// In order of hour, class and currency, as is what comes of it.
void add_ended(std::vector<PastHour>& past, const Use& use, Instant ended);
void forget_before(std::vector<PastHour>& past, Instant now);  // what is out of every window

}  // namespace spillway::demand
