// recommend: which offer to take for a workload, and why.
//
// Assumptions
//   - the policy passed validate(); options are as rank/option.h says.
//   - the answer is good for one choice: each choice alone stays within all caps. Who takes one
//     asks again, with that among what is held.
// Algorithm
//   What the buyer may not see is skipped and leaves no trace, not even in counts. Then the hard
//   rules (rank/rules.h), then the caps (rank/caps.h), which may allow fewer units than are wanted;
//   what remains is scored (rank/figures.h), times how many units are needed, and sorted.
//   Explanations are written for the first `explained` only: the score is numbers, the explanation
//   is text.
// Ties
//   As rank/figures.h says, and in the end the lesser offer id. Nothing depends on the order of the
//   options. Those that were ruled out are told by offer id.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/money.h"
#include "base/time.h"
#include "rank/cost.h"
#include "rank/figures.h"
#include "rank/option.h"
#include "rank/policy.h"
#include "rank/rules.h"

namespace spillway::rank {

struct TierVerdict {
  int64_t exact = 0;        // the sum of the terms, micro-units
  int64_t step = 0;         // 0: exactly
  int64_t counted = 0;      // what was compared: whole steps of it, rounded up
  std::vector<Term> terms;  // of some worth in this tier
  bool operator==(const TierVerdict&) const = default;
};

struct Choice {
  OfferId offer;
  int32_t units = 0;  // that may be taken: as wanted, or fewer by a cap or what is free
  std::string fewer;  // why fewer; empty: as many as wanted
  Score score;        // what orders choices
  std::vector<TierVerdict> tiers;  // empty where no explanation was asked for
};

struct Excluded {
  OfferId offer;
  Barred why;
  bool operator==(const Excluded&) const = default;
};

struct Recommendation {
  std::string workload_class;  // empty: none
  Currency currency;
  Expectation expect;           // amounts are for one unit, over this
  std::vector<Choice> choices;  // best first
  std::vector<Excluded> excluded;
};

inline constexpr size_t k_explain_all = SIZE_MAX;

Recommendation recommend(const Policy& policy, const Workload& workload,
                         std::span<const Option> options, std::span<const Holding> held,
                         Instant now, size_t explained = k_explain_all);
// By a policy that is known to count for the workload.
Recommendation recommend(const EffectivePolicy& policy, const Workload& workload,
                         std::span<const Option> options, std::span<const Holding> held,
                         Instant now, size_t explained = k_explain_all);

// How a score came about, term by term.
std::vector<TierVerdict> explain(const EffectivePolicy& policy, const Option& option, Instant now);

// For a terminal and for events.
std::string to_text(const Recommendation& told);
std::string to_text(const Choice& choice, const Currency& currency);

}  // namespace spillway::rank
