// Orders: what follows from what was asked of a driver. Pure: a state and a question in, the next
// state or the reason why not out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/contract.h"
#include "services/driver/driver_state.h"

namespace spillway::driver {

// Of a unit of which nothing is shown any more.
Error ended(const std::string& unit);

// Puts an order down. Answers whether anything has changed by it. Conflict: the unit was ordered
// otherwise, is unlike the others of its contract that are not gone, ends or has ended; the error
// names the field. Unavailable: all of its contract have gone, and not all of that is forgotten.
// Over quota: there is no room for one more (services/driver/state_size.h). What is in its way
// and may not be seen is not named.
Result<bool> place(DriverState& state, const std::string& unit, const UnitOrder& order, Instant now,
                   const MaySee& may_see);
// Not found: there was never such a unit. One that ends, or has ended, is no error.
Result<bool> end(DriverState& state, const std::string& unit, Instant now);

inline std::string peering_name(const std::string& consumer, const std::string& provider) {
  return consumer + "/" + provider;
}
// `contract`: for one that is not kept yet. Invalid: `until` is over.
Result<bool> keep(DriverState& state, const std::string& peering, const PeeringOrder& order,
                  const ContractId& contract, Instant now);
// Conflict: units live there; the error names them.
Result<bool> close(DriverState& state, const std::string& peering, Instant now);

// Units that are to be there between two clusters, or that end and are not gone.
std::vector<std::string> units_of(const DriverState& state, const std::string& peering);
std::map<std::string, std::vector<std::string>> units_by_peering(const DriverState& state);

// What the two machines of the fabric are to want: one contract for all units that share its id,
// but for those that have ended at their consumer; and one of no units for each peering that is
// kept. All are spares of which some are bought: so one that is ordered as a spare can be, later.
std::map<ContractId, model::Contract> contracts_of(const DriverState& state);
std::map<ContractId, std::vector<int32_t>> purchases_of(const DriverState& state);
// Of any unit of that contract that is not gone: they are alike. Null: it has none.
const UnitOrder* order_of(const DriverState& state, const ContractId& contract);
model::Offer offer_of(const model::Contract& contract, const UnitOrder* order);

}  // namespace spillway::driver
