#include "services/broker/holdings.h"

#include "services/broker/body.h"

namespace spillway::services {
namespace {

using market::Kind;
using By = host::Scan::By;

constexpr int32_t k_most_rows = 10'000;

host::Scan scan_of(Kind kind, By by, std::string name, const PageAsked& asked) {
  host::Scan scan;
  scan.kind = kind;
  scan.by = by;
  scan.name = std::move(name);
  scan.after = asked.after;
  scan.limit = asked.limit;
  return scan;
}

void take_contracts(Holdings& holdings, const std::vector<host::Row>& rows, int32_t limit) {
  holdings.more_contracts = holdings.more_contracts || std::cmp_equal(rows.size(), limit);
  for (const host::Row& row : rows) holdings.contracts.emplace(row.key.id, row);
}

}  // namespace

void load_holdings(Desk& desk, const std::shared_ptr<Call>& call, const PageAsked& contracts,
                   std::function<void(const Holdings&)> then) {
  const std::string& name = call->caller.name;
  const PageAsked all{{}, k_most_rows};
  host::Load first;
  first.keys = {market::epoch_key()};
  first.scans = {scan_of(Kind::pool, By::owner, name, all),
                 scan_of(Kind::offer, By::owner, name, all),
                 scan_of(Kind::contract, By::owner, name, contracts)};
  load(desk, call, std::move(first),
       [&desk, call, contracts, then = std::move(then)](const host::Snapshot& found) {
         Holdings holdings;
         holdings.sequence = found.last_event;
         if (const auto* epoch = held<market::EpochRecord>(found.rows[0])) {
           holdings.epoch = epoch->epoch;
         }
         holdings.pools = found.found[0];
         holdings.offers = found.found[1];
         take_contracts(holdings, found.found[2], contracts.limit);
         if (holdings.pools.empty()) return then(holdings);
         host::Load sold;
         for (const host::Row& pool : holdings.pools) {
           sold.scans.push_back(scan_of(Kind::contract, By::group, pool.key.id, contracts));
         }
         load(desk, call, std::move(sold),
              [holdings, then, limit = contracts.limit](const host::Snapshot& more) mutable {
                for (const auto& rows : more.found) take_contracts(holdings, rows, limit);
                then(holdings);
              });
       });
}

}  // namespace spillway::services
