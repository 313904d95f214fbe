// Law 1 where things are added up: what is noted of a pool or an account against its contracts.
#include "sim/laws.h"

namespace spillway::sim {
namespace {

using market::AccountRecord;
using market::Kind;
using market::PoolRecord;
using model::Contract;
using model::ContractState;

// What a set of contracts adds up to.
struct Tally {
  int64_t units = 0;
  int64_t spares = 0;
  int64_t open_holds = 0;
  model::Resources resources;
  std::map<Currency, int64_t> reserved;
};

Tally tally(const Rows& rows, const std::set<std::string>& contracts) {
  Tally sum;
  for (const std::string& id : contracts) {
    const auto* contract = rows.get<Contract>({Kind::contract, id});
    if (contract == nullptr) continue;
    sum.open_holds += contract->state == ContractState::hold ? 1 : 0;
    for (const model::Unit& unit : contract->units) {
      if (!unit.live) continue;
      if (contract->spare && !unit.bought) {
        ++sum.spares;
        continue;
      }
      ++sum.units;
      sum.resources += contract->shape;
      sum.reserved[contract->price.currency] += unit.reserved;
    }
  }
  return sum;
}

}  // namespace

void Laws::check_pool(const market::Key& key, const SaleSight* sold) {
  const auto* pool = rows_.get<PoolRecord>(key);
  expect(pool != nullptr, 3, "a pool with contracts has no row: " + key.id);
  if (pool == nullptr) return;
  check_seller(*pool);
  const Tally sum = tally(rows_, rows_.contracts_in(key.id));
  expect(sum.resources == pool->committed, 1,
         fmt::format("pool {}: {} is noted as sold, contracts sum to {}", key.id,
                     to_text(pool->committed), to_text(sum.resources)));
  model::Resources carried = sum.resources;
  carried += pool->unaccounted;
  const auto* met = sold == nullptr ? nullptr : sold->met<PoolRecord>(key, pool->pool.id);
  if (met != nullptr) {
    model::Resources with = sum.resources;
    with += met->unaccounted;
    expect(met->pool.capacity.covers(with), 1,
           fmt::format("pool {}: a grant beyond its capacity: {} of {}", key.id, to_text(with),
                       to_text(met->pool.capacity)));
  }
  expect(pool->oversold_since.has_value() != pool->pool.capacity.covers(carried), 1,
         fmt::format("pool {}: whether it is oversold is noted wrongly", key.id));
}

void Laws::check_account(const market::Key& key, const Undo& undo, bool grew) {
  const auto* account = rows_.get<AccountRecord>(key);
  expect(account != nullptr, 3, "a buyer with contracts has no account: " + key.id);
  if (account == nullptr) return;
  Tally sum = tally(rows_, rows_.contracts_of(key.id));
  expect(sum.units == account->units && sum.spares == account->spares &&
             sum.open_holds == account->open_holds && sum.resources == account->used,
         1,
         fmt::format("account {}: {} units are noted, contracts have {}", key.id, account->units,
                     sum.units));
  int64_t charged = 0;
  for (const auto& [row, before] : undo.rows) {
    const auto* after = rows_.get<Contract>(row);
    if (row.kind != Kind::contract || after == nullptr || after->buyer.text != key.id) continue;
    const auto* previous = held<Contract>(before.record);
    for (size_t i = 0; i < after->units.size(); ++i) {
      const bool was_live = previous == nullptr || previous->units[i].live;
      if (was_live && !after->units[i].live) charged += after->units[i].charged;
    }
  }
  bool promised = grew;  // by a hold or by a renewal
  for (const auto& [row, before] : undo.rows) {
    if (row != key) continue;
    const auto* previous = held<AccountRecord>(before.record);
    int64_t spent = 0;
    for (const market::Purse& purse : account->purses) spent += purse.spent;
    if (previous == nullptr || previous->cluster != account->cluster) continue;
    int64_t reserved = 0;
    for (const market::Purse& purse : account->purses) reserved += purse.reserved;
    for (const market::Purse& purse : previous->purses) {
      spent -= purse.spent;
      reserved -= purse.reserved;
    }
    promised = promised || reserved > 0;
    expect(spent == charged, 1,
           fmt::format("account {}: {} was charged, {} was booked", key.id, micros_to_text(charged),
                       micros_to_text(spent)));
  }
  for (const market::Purse& purse : account->purses) {
    const int64_t reserved = sum.reserved[purse.currency];
    expect(purse.reserved == reserved, 1,
           fmt::format("account {}: {} is noted as set aside, units sum to {}", key.id,
                       micros_to_text(purse.reserved), micros_to_text(reserved)));
    const auto& budget = account->cluster.budget;
    if (promised && budget && budget->limit.currency == purse.currency) {
      expect(purse.reserved + purse.spent <= budget->limit.micros, 1,
             fmt::format("account {}: sold beyond its budget", key.id));
    }
  }
  const auto& quota = account->cluster.quota;
  if (grew) {
    expect((!quota.units || account->units <= *quota.units) &&
               (!quota.open_holds || account->open_holds <= *quota.open_holds) &&
               account->spares <= rules_.max_spares &&
               (!quota.cpu_millis || account->used.cpu_millis <= *quota.cpu_millis),
           1, fmt::format("account {}: sold beyond its quota", key.id));
  }
}

}  // namespace spillway::sim
