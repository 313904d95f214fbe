// Dispute: a row of the broker's book, held against what was signed: times, units and money. Pure.
#pragma once

#include <string>

#include "services/agent/evidence.h"

namespace spillway::agent {

// What the row says and nobody has signed, in words; empty: there is nothing of that kind.
std::string dispute(const model::Contract& row, const Agreed& agreed);
// The latest time that a lease may last until by what was signed, with all outages there may be.
Instant signed_until(const model::Contract& row, const Agreed& agreed);
// Until when the provider may sign: as agreed, or as the buyer extended it.
Instant signed_sign_by(const Agreed& agreed);

}  // namespace spillway::agent
