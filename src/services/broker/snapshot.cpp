#include "services/broker/snapshot.h"

#include "services/broker/body.h"
#include "services/broker/holdings.h"
#include "services/wire/convert.h"

namespace spillway::services {

void take_snapshot(Desk& desk, const std::shared_ptr<Call>& call,
                   std::function<void(const wire::SnapshotAnswer&)> then) {
  const PageAsked all{{}, 10'000};
  load_holdings(desk, call, all, [then = std::move(then)](const Holdings& holdings) {
    wire::SnapshotAnswer snapshot;
    snapshot.sequence = holdings.sequence;
    snapshot.epoch = holdings.epoch;
    snapshot.more = holdings.more_contracts;
    for (const host::Row& row : holdings.pools) {
      if (const auto* pool = held<market::PoolRecord>(row)) {
        snapshot.pools.push_back(wire::row_of(*pool));
      }
    }
    for (const host::Row& row : holdings.offers) {
      if (const auto* offer = held<market::OfferRecord>(row)) {
        snapshot.offers.push_back(wire::row_of(*offer));
      }
    }
    for (const auto& [id, row] : holdings.contracts) {
      if (const auto* contract = held<model::Contract>(row)) {
        snapshot.contracts.push_back(*contract);
      }
    }
    then(snapshot);
  });
}

}  // namespace spillway::services
