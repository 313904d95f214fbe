// What the two machines are to want, from contracts and what is kept of them. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fabric/buyer.h"
#include "fabric/seller.h"
#include "model/contract.h"
#include "services/fabric/fabric_state.h"

namespace spillway::agent {

// Names of a contract's units, in the order in which an agreement has their requests.
std::vector<std::string> unit_names(const model::Contract& contract);

fabric::Sale sale_of(const model::Contract& contract, const FabricContract& kept);

using UnitRequests = std::map<std::string, std::string>;  // by name; PEM
struct Buying {
  const UnitRequests& requests;  // those that the contract names; of units that may be made
  Duration drain;                // how long a unit that ends has to become empty
  bool has_identity;             // the provider has said who it is
};
// Units of which nothing is there and nothing can be made yet are left out.
fabric::Purchase purchase_of(const model::Contract& contract, const FabricContract& kept,
                             const Buying& buying, const fabric::BuyerSight& seen);

}  // namespace spillway::agent
