// What an identity has: as a seller its pools and offers, as either party its contracts. A seller's
// contracts are found through its pools, for the store has them by pool and by buyer.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "services/broker/desk.h"

namespace spillway::services {

struct Holdings {
  int64_t sequence = 0;  // nothing below is older than this event
  int64_t epoch = 0;
  std::vector<host::Row> pools;
  std::vector<host::Row> offers;
  std::map<std::string, host::Row> contracts;  // by id; live ones
  bool more_contracts = false;                 // than `limit`, of one buyer or pool
};

// Contracts with an id after `after`, at most `limit` of each buyer and pool.
void load_holdings(Desk& desk, const std::shared_ptr<Call>& call, const PageAsked& contracts,
                   std::function<void(const Holdings&)> then);

}  // namespace spillway::services
