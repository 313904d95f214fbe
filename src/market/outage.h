// How an outage of the broker moves a deadline (law 4): by what was lost since the deadline was
// set, up to the grace in the contract. A buyer's own silence moves nothing.
//
// The book knows what was lost; its parties know how long they heard nothing themselves. Both move
// the end by the same function, so that nobody ends what the other still counts on.
#pragma once

#include <algorithm>

#include "market/mutants.h"
#include "market/records.h"

namespace spillway::market {

// How far so much silence moves the end.
inline Duration shift_by(const model::Contract& contract, Duration silence) {
  // What is closing ends when it was said to end: both sides were told.
  if (contract.state != model::ContractState::hold &&
      contract.state != model::ContractState::active) {
    return {};
  }
  return std::min(silence, contract.terms.grace - contract.grace_used);
}

inline Duration outage_shift(const model::Contract& contract, const EpochRecord& epoch) {
  if (mutant(Mutant::forget_outage)) return {};
  return shift_by(contract, epoch.lost - contract.outage_mark);
}

// The stated point: however long the broker is silent from now on, what the contract has now ends
// no later than then, and what runs on it may not be ended before by anybody who hears nothing.
inline Instant ends_no_later_than(const model::Contract& contract) {
  const Instant end = contract.deadline + shift_by(contract, contract.terms.grace);
  const bool drains = contract.state == model::ContractState::active;
  return drains ? end + contract.terms.drain : end;
}

inline Instant effective_deadline(const model::Contract& contract, const EpochRecord& epoch) {
  return contract.deadline + outage_shift(contract, epoch);
}

// When one that has heard nothing since `heard` may end it by itself: the stated point is past, and
// so much silence was seen as may move an end. Who has slept through the deadline waits as long.
inline Instant ends_unheard(const model::Contract& contract, Instant heard) {
  if (mutant(Mutant::forget_grace)) return contract.deadline;
  const Duration patience = ends_no_later_than(contract) - contract.deadline;
  return std::max(contract.deadline, heard) + patience;
}

// Every deadline is set through this, so that past outages are never counted for it.
inline void set_deadline(model::Contract& contract, Instant deadline, const EpochRecord& epoch) {
  contract.deadline = deadline;
  contract.outage_mark = epoch.lost;
  contract.grace_used = {};
  contract.ending_notice.reset();
}

}  // namespace spillway::market
