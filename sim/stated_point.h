// When a contract is over for everybody who hears nothing, worked out anew: the laws share no
// arithmetic with market/outage.h.
#pragma once

#include "model/contract.h"

namespace spillway::sim {

inline Duration patience_of(const model::Contract& contract) {
  if (contract.state == model::ContractState::closing) return {};
  return contract.terms.grace - contract.grace_used + contract.terms.drain;
}

inline Instant stated_point(const model::Contract& contract) {
  return contract.deadline + patience_of(contract);
}

}  // namespace spillway::sim
