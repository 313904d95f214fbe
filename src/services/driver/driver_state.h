// DriverState: what a driver must still know after it was killed: what was ordered, what was ended,
// how far it was seen to be, and what each cluster's Fabric keeps. One value, one document, in a
// file of its own (services/agent/state_file.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/agent/state_file.h"
#include "services/driver/documents.h"
#include "services/fabric/fabric_state.h"

namespace spillway::driver {

struct UnitRecord {
  UnitOrder order;
  Instant ordered;
  std::optional<Instant> ending = {};  // since when it is to end
  // Its consumer has nothing of it any more, or has had its time: now the provider ends it.
  std::optional<Instant> ended = {};
  std::vector<StepSeen> steps = {};  // the last of them; what was seen just before a kill is lost
  size_t bytes = 0;  // bytes_of(order), counted once (services/driver/state_size.h); not written
  bool operator==(const UnitRecord&) const = default;

  fabric::UnitStep step() const {
    return steps.empty() ? fabric::UnitStep::asked : steps.back().step;
  }
  bool is_gone() const { return step() == fabric::UnitStep::gone; }
};

// A peering that is asked for by itself: a contract of no units, of which nobody knows but we.
struct PeeringRecord {
  ContractId contract;
  PeeringOrder order;
  bool operator==(const PeeringRecord&) const = default;
};

struct DriverState {
  // Whose the units are, in Leases (services/fabric/holder.h): made once, for a driver may be
  // started on another host, under another name, and units of its own are no reason to wait.
  std::string party;
  std::map<std::string, UnitRecord> units;
  std::map<std::string, Instant> over;            // names of units that were gone, and when
  std::map<std::string, PeeringRecord> peerings;  // "rome/milan"
  std::map<std::string, Instant> closing;         // peerings that were deleted, until they are gone
  std::map<std::string, std::string> liqo_ids;    // of clusters, as they were last seen
  std::map<std::string, agent::FabricState> fabrics;  // of clusters
  bool operator==(const DriverState&) const = default;
};

Status validate(const DriverState& state);
std::string to_json(const DriverState& state);
Result<DriverState> driver_state_from_json(std::string_view text,
                                           std::string_view source = "driver state");
agent::StateKind driver_state();

}  // namespace spillway::driver
