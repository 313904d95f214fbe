#include "services/broker/snapshot.h"

#include "services/broker/body.h"
#include "services/broker/own_contracts.h"
#include "services/wire/convert.h"

namespace spillway::services {
namespace {

using market::Kind;

constexpr int32_t k_most_rows = 10'000;

// One load: all of it is true at the same event.
host::Load load_of(const std::string& name) {
  host::Load load;
  load.keys = {market::epoch_key()};
  const PageAsked most{{}, k_most_rows};
  load.scans = scans_of_own(name, most);
  load.scans.push_back(scan_of(Kind::pool, host::Scan::By::owner, name, most));
  load.scans.push_back(scan_of(Kind::offer, host::Scan::By::owner, name, most));
  return load;
}

wire::SnapshotAnswer answer_of(const host::Snapshot& found) {
  wire::SnapshotAnswer snapshot;
  snapshot.sequence = found.last_event;
  if (const auto* epoch = held<market::EpochRecord>(found.rows[0])) snapshot.epoch = epoch->epoch;
  const OwnContracts own = merge_own(found.found[0], found.found[1], k_most_rows);
  snapshot.more = own.more;
  for (const host::Row& row : own.rows) {
    if (const auto* contract = held<model::Contract>(row)) snapshot.contracts.push_back(*contract);
  }
  for (const host::Row& row : found.found[2]) {
    if (const auto* pool = held<market::PoolRecord>(row)) {
      snapshot.pools.push_back(wire::row_of(*pool));
    }
  }
  for (const host::Row& row : found.found[3]) {
    if (const auto* offer = held<market::OfferRecord>(row)) {
      snapshot.offers.push_back(wire::row_of(*offer));
    }
  }
  return snapshot;
}

}  // namespace

void take_snapshot(Desk& desk, const std::shared_ptr<Call>& call,
                   std::function<void(const wire::SnapshotAnswer&)> then) {
  load(desk, call, load_of(call->caller.name),
       [then = std::move(then)](const host::Snapshot& found) { then(answer_of(found)); });
}

}  // namespace spillway::services
