// When a contract is over for everybody who hears nothing, worked out anew: the laws share no
// arithmetic with market/outage.h.
#pragma once

#include <algorithm>

#include "model/contract.h"

namespace spillway::sim {

inline Duration patience_of(const model::Contract& contract) {
  if (contract.state == model::ContractState::closing) return {};
  return contract.terms.grace - contract.grace_used + contract.terms.drain;
}

// When a lease ended that nobody renewed: `lost` is what outages have taken since it was set.
inline Instant lease_end(const model::Contract& contract, Duration lost) {
  return contract.deadline + std::min(lost, contract.terms.grace - contract.grace_used);
}

inline Instant stated_point(const model::Contract& contract) {
  return contract.deadline + patience_of(contract);
}

}  // namespace spillway::sim
