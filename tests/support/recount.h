// Counts the book anew from its contracts, one unit at a time, and says what its sums have wrong.
// It shares no arithmetic with market/.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "model/validation.h"
#include "support/memory_rows.h"

namespace spillway::test {

struct Count {
  int64_t units = 0;
  int64_t spares = 0;
  int64_t open_holds = 0;
  model::Resources resources;
  std::map<Currency, int64_t> reserved;
  std::map<Currency, int64_t> charged;
};

inline void add(Count& count, const model::Contract& contract) {
  if (contract.state == model::ContractState::hold) count.open_holds += 1;
  for (const model::Unit& unit : contract.units) {
    count.charged[contract.price.currency] += unit.charged;
    if (!unit.live) continue;
    if (contract.spare && !unit.bought) {
      count.spares += 1;
      continue;
    }
    count.units += 1;
    count.resources += contract.shape;
    count.reserved[contract.price.currency] += unit.reserved;
  }
}

// Empty: everything is as the contracts say. `spent` is compared only where budgets never began
// anew (model::Budget::from).
inline std::vector<std::string> recount(const MemoryRows& rows, bool compare_spent = true) {
  std::map<std::string, Count> by_pool;
  std::map<std::string, Count> by_buyer;
  std::vector<std::string> wrong;
  for (const auto& [key, stored] : rows.all()) {
    const auto* contract = rows.get<model::Contract>(key);
    if (contract == nullptr) continue;
    add(by_pool[contract->pool.text], *contract);
    add(by_buyer[contract->buyer.text], *contract);
    if (const Status valid = validate(*contract); !valid) {
      wrong.push_back(fmt::format("contract {}: {}", key.id, valid.error().message()));
    }
  }
  const auto expect = [&](bool holds, const std::string& id, std::string_view what) {
    if (!holds) wrong.push_back(fmt::format("{}: {}", id, what));
  };
  for (const auto& [key, stored] : rows.all()) {
    if (const auto* pool = rows.get<market::PoolRecord>(key)) {
      const model::Resources& sold = by_pool[key.id].resources;
      expect(pool->committed == sold, key.id, "committed is not what contracts have");
      expect(
          pool->oversold_since.has_value() != pool->pool.capacity.covers(sold + pool->unaccounted),
          key.id, "whether it is oversold is wrong");
      expect(pool->oversold_since.has_value() == pool->reclaim_at.has_value(), key.id,
             "it is oversold without a time to act, or the reverse");
    } else if (const auto* account = rows.get<market::AccountRecord>(key)) {
      Count& count = by_buyer[key.id];
      expect(account->units == count.units, key.id, "units");
      expect(account->spares == count.spares, key.id, "spares");
      expect(account->open_holds == count.open_holds, key.id, "open holds");
      expect(account->used == count.resources, key.id, "used resources");
      for (const market::Purse& purse : account->purses) {
        expect(purse.reserved == count.reserved[purse.currency], key.id, "money set aside");
        expect(!compare_spent || purse.spent == count.charged[purse.currency], key.id,
               "money spent");
        count.reserved.erase(purse.currency);
      }
      for (const auto& [currency, reserved] : count.reserved) {
        expect(reserved == 0, key.id, "money set aside without a purse");
      }
    }
  }
  return wrong;
}

}  // namespace spillway::test
