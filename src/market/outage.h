// How an outage of the broker moves a deadline (law 4): by what was lost since the deadline was
// set, up to the grace in the contract. A buyer's own silence moves nothing.
#pragma once

#include <algorithm>

#include "market/mutants.h"
#include "market/records.h"

namespace spillway::market {

inline Duration outage_shift(const model::Contract& contract, const EpochRecord& epoch) {
  if (mutant(Mutant::forget_outage)) return {};
  // What is closing ends when it was said to end: both sides were told.
  if (contract.state != model::ContractState::hold &&
      contract.state != model::ContractState::active) {
    return {};
  }
  return std::min(epoch.lost - contract.outage_mark, contract.terms.grace - contract.grace_used);
}

inline Instant effective_deadline(const model::Contract& contract, const EpochRecord& epoch) {
  return contract.deadline + outage_shift(contract, epoch);
}

// Every deadline is set through this, so that past outages are never counted for it.
inline void set_deadline(model::Contract& contract, Instant deadline, const EpochRecord& epoch) {
  contract.deadline = deadline;
  contract.outage_mark = epoch.lost;
  contract.grace_used = {};
}

}  // namespace spillway::market
