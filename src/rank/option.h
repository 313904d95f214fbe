// What the recommender is asked about: a workload, the options that there are for it, and what is
// held already.
//
// Assumptions
//   - offers passed model::validate; what they state are claims of their providers.
//   - readings, failures and signs of life are the consumer's own.
//   - whether the work may run there (taints, affinity, spread) is known to who asks: the Cluster
//     Autoscaler and the planner simulate it.
// Algorithm
//   None: plain data.
// Ties
//   None. Offer ids are unique among the options of one question.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/money.h"
#include "base/time.h"
#include "model/labels.h"
#include "model/offer.h"
#include "model/resources.h"

namespace spillway::rank {

struct Workload {
  std::string kube_namespace;
  model::Labels labels;    // of its pods
  model::Resources shape;  // a unit must cover it; nothing: whoever asks has seen to that
  int32_t units = 1;
  std::optional<Duration> time;         // none: the policy's expectation
  std::optional<int64_t> egress_bytes;  // of one unit; none: the policy's
};

struct RoundTrip {
  int64_t micros = 0;  // microseconds
  Instant measured;
  bool operator==(const RoundTrip&) const = default;
};

// Failures as they are remembered: see rank/doubt.h.
struct Failures {
  int64_t micros = 0;  // millionths of a failure, as of then
  Instant as_of;
  bool operator==(const Failures&) const = default;
};

struct Option {
  const model::Offer* offer = nullptr;  // never null; must outlive the question
  bool visible = true;                  // to the buyer; else it leaves no trace in the answer
  std::optional<int32_t> free_units;    // none: the broker will tell
  std::optional<RoundTrip> round_trip;  // none: not measured, or not to be reached
  std::optional<Failures> failures;     // none: never tried
  std::optional<Instant> heard;         // the provider's last sign of life
  // How many units of this do the work of one unit of the option that needs the fewest, in
  // thousandths: 1000 where nobody has counted.
  int64_t needed_permille = 1000;
};

// Units of one contract, or of a hold that is under way.
struct Holding {
  std::string workload_class;  // for which they were bought; empty: none
  int32_t units = 0;
  Currency currency;
  int64_t rate = 0;             // micro-units per unit-hour
  int64_t milliwatt_grams = 0;  // of one unit: mW × gCO2e/kWh, as declared
  Instant started;
  std::optional<Instant> ended;
  Duration minimum_term;
};

// What `units` of an option are once they are held.
Holding holding_of(const Option& option, int32_t units, std::string workload_class, Instant now);

}  // namespace spillway::rank
