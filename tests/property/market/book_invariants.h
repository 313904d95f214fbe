// What holds of every contract after every step, whatever was asked.
#pragma once

#include <rapidcheck.h>

#include "support/test_book.h"

namespace spillway::market {

// Law 1, with the rows as the sale left them.
inline void check_grant(const test::TestBook& book, const model::Contract& contract) {
  const PoolRecord& pool = book.pool(contract.pool);
  RC_ASSERT(
      (contract.taken().is_zero() || pool.pool.capacity.covers(pool.committed + pool.unaccounted)));
  RC_ASSERT((!pool.withdrawn && pool.lease_until > book.now));
  RC_ASSERT(pool.epoch == book.get<EpochRecord>(epoch_key())->epoch);
  const AccountRecord& account = book.account(contract.buyer);
  const auto& quota = account.cluster.quota;
  // What takes nothing is granted also to who has more than a quota that was lowered since.
  const bool takes_nothing = contract.taken().is_zero();
  RC_ASSERT((takes_nothing || !quota.units || account.units <= *quota.units));
  RC_ASSERT((!quota.open_holds || account.open_holds <= *quota.open_holds));
  if (const auto& budget = account.cluster.budget) {
    RC_ASSERT(contract.price.currency == budget->limit.currency);
    const Purse purse = book.purse(contract.buyer);
    RC_ASSERT(purse.reserved + purse.spent <= budget->limit.micros);
  }
}

inline bool has_bought(const model::Contract& before, const model::Contract& now) {
  for (size_t i = 0; i < now.units.size(); ++i) {
    if (now.units[i].bought && !before.units[i].bought) return true;
  }
  return false;
}

inline void check_life(const model::Contract& before, const model::Contract& now) {
  RC_ASSERT(static_cast<int>(now.state) >= static_cast<int>(before.state));
  RC_ASSERT((before.state != model::ContractState::closed || now == before));
  RC_ASSERT(now.units.size() == before.units.size());
  RC_ASSERT(now.grace_used <= now.terms.grace);
  for (size_t i = 0; i < now.units.size(); ++i) {
    const model::Unit& was = before.units[i];
    const model::Unit& is = now.units[i];
    RC_ASSERT((was.live || is == was));
    RC_ASSERT((is.live ? is.charged == 0 : was.live ? is.charged <= was.reserved : true));
    RC_ASSERT(is.metered.covers(was.metered));
    RC_ASSERT((!was.bought || is.bought == was.bought));
  }
}

}  // namespace spillway::market
