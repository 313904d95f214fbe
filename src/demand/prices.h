// What nodes and pods come to over a window of time, in micro-units: what the Cluster Autoscaler's
// price expander compares.
//
// Assumptions
//   - one currency; offers in another are not shown.
// Algorithm
//   A node that would be bought for the window is paid for all of it, and for the minimum term at
//   least. One that is held is paid until its minimum term is over, whatever is decided: only what
//   lies beyond that counts, so that keeping it is nearly free. A pod comes to the share of a
//   unit's price that its largest request takes, on the offer where that is least.
// Ties
//   None: amounts, not choices. Nothing is ever free: callers divide by it.
#pragma once

#include <cstdint>
#include <vector>

#include "demand/ledger.h"

namespace spillway::demand {

int64_t price_of_new(const model::Offer& offer, Duration window);

struct HeldPrice {
  int64_t rate = 0;
  Duration minimum_term;
  Instant started;
};
int64_t price_of_held(const HeldPrice& held, Instant from, Instant to);

// Prices of pods, from what was on sale when it was made.
class PodPrices {
 public:
  PodPrices() = default;
  explicit PodPrices(const LedgerState& state);

  int64_t price(const model::Resources& requests, Duration window) const;

 private:
  struct Row {
    model::Resources has;
    int64_t rate = 0;
  };
  std::vector<Row> rows_;
};

}  // namespace spillway::demand
