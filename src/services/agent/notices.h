// Whom a provider parts with when it has sold more than it has left. The book decides the same way
// when a provider does nothing (market/attend.cpp), only later and for it.
#pragma once

#include <vector>

#include "model/contract.h"

namespace spillway::agent {

// Of `contracts`, all of one pool: holds before contracts, then the youngest first, of those that
// use what is short; no more than it takes until what stays fits, counting what is closing already
// as gone.
std::vector<ContractId> choose_to_notice(const model::Resources& capacity,
                                         const std::vector<const model::Contract*>& contracts);

}  // namespace spillway::agent
