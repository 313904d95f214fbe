// Unreleased: bought units that were to end, have ended here, and that their contract still has.
// Nothing would tell it otherwise: they are paid for, and never come back.
#pragma once

#include <compare>
#include <map>
#include <set>

#include "fabric/deed.h"
#include "model/contract.h"
#include "services/fabric/fabric_state.h"

namespace spillway::agent {

class Unreleased {
 public:
  // An autoscaler ends units in the same way, and releases each itself once its slice is gone: that
  // takes seconds, or as long as its broker is busy.
  static constexpr Duration k_release_time = minutes(2);

  struct Unit {
    ContractId contract;
    int32_t number = 0;
    auto operator<=>(const Unit&) const = default;
  };
  using Units = std::set<Unit>;
  // Adds those of that contract; `plan` says how far each is.
  static void add(const model::Contract& contract, const FabricContract& kept,
                  const fabric::Plan& plan, Units& units);
  // All that there are now. A restart begins to count anew.
  void tell(const Units& units, Instant now, fabric::Plan& plan);

 private:
  std::map<Unit, Instant> since_;  // when each was first seen to have ended
};

}  // namespace spillway::agent
