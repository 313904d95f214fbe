#include "sim/laws.h"

#include <algorithm>

namespace spillway::sim {
namespace {

using market::AccountRecord;
using market::Kind;
using market::PoolRecord;
using model::Contract;
using model::ContractState;
using model::EndReason;

template <class T>
const T* held(const market::Record& record) {
  const auto* shared = std::get_if<market::Shared<T>>(&record);
  return shared == nullptr ? nullptr : shared->get();
}

bool has_event_on(const host::Commit& commit, const std::string& subject) {
  return std::any_of(commit.events.begin(), commit.events.end(),
                     [&](const market::Event& event) { return event.subject == subject; });
}

int32_t count_live(const Contract& contract) {
  return static_cast<int32_t>(std::count_if(contract.units.begin(), contract.units.end(),
                                            [](const model::Unit& unit) { return unit.live; }));
}

// Never back. One commit may take several steps: a batch can confirm a hold and give it notice.
bool is_step(const Contract& before, const Contract& after) {
  if (before.state == ContractState::closed || after.state < before.state) return false;
  const bool running =
      after.state == ContractState::active || after.state == ContractState::closing;
  return !running || after.started.has_value();
}

bool is_by_provider(EndReason reason) {
  return reason == EndReason::noticed || reason == EndReason::reclaimed;
}

int64_t rounded_charge(const Contract& contract, Duration time) {
  const bool whole = contract.price.basis == model::PriceBasis::reserved;
  const Int128 rate = whole ? contract.rate : contract.price.unit_hour;
  return static_cast<int64_t>((rate * time.ms + 3'599'999) / 3'600'000);
}

struct Tally {
  int64_t units = 0;
  int64_t open_holds = 0;
  model::Resources resources;
  std::map<Currency, int64_t> reserved;
};

Tally tally(const Rows& rows, const std::set<std::string>& contracts) {
  Tally sum;
  for (const std::string& id : contracts) {
    const auto* contract = rows.get<Contract>({Kind::contract, id});
    if (contract == nullptr) continue;
    const int32_t live = count_live(*contract);
    sum.units += live;
    sum.open_holds += contract->state == ContractState::hold ? 1 : 0;
    for (int32_t i = 0; i < live; ++i) sum.resources += contract->shape;
    for (const model::Unit& unit : contract->units) {
      if (unit.live) sum.reserved[contract->price.currency] += unit.reserved;
    }
  }
  return sum;
}

}  // namespace

void Laws::expect(bool holds, int law, const std::string& what) {
  ++checks_;
  if (!holds && !broken_) broken_ = fmt::format("law {}: {}", law, what);
}

void Laws::on_commit(const host::Commit& commit, const Undo& undo) {
  std::set<std::string> sold_from;  // pools
  std::set<std::string> sold_to;    // buyers
  std::set<std::string> pools;
  std::set<std::string> buyers;
  for (const auto& [key, before] : undo.rows) {
    const Versioned* now = rows_.find(key);
    const market::Record after = now == nullptr ? market::Record{} : now->record;
    expect(now == nullptr || now->version > before.version, 2, "a version did not grow: " + key.id);
    check_sequence(before.record, after);
    if (key.kind == Kind::request) check_request(before.record, after, commit.at);
    if (key.kind == Kind::pool) pools.insert(key.id);
    if (key.kind == Kind::account) buyers.insert(key.id);
    if (key.kind != Kind::contract) continue;
    const auto* contract = held<Contract>(after);
    expect(contract != nullptr, 3, "a contract was deleted: " + key.id);
    if (contract == nullptr) continue;
    const auto* previous = held<Contract>(before.record);
    check_contract(previous, *contract, commit);
    pools.insert(contract->pool.text);
    buyers.insert(contract->buyer.text);
    if (previous == nullptr) {
      sold_from.insert(contract->pool.text);
      sold_to.insert(contract->buyer.text);
    }
  }
  for (const std::string& id : pools) {
    check_pool({Kind::pool, id}, sold_from.contains(id));
  }
  for (const std::string& id : buyers) {
    check_account({Kind::account, id}, undo, sold_to.contains(id));
  }
  check_outage(commit, undo);
}

void Laws::check_pool(const market::Key& key, bool sold) {
  const auto* pool = rows_.get<PoolRecord>(key);
  expect(pool != nullptr, 3, "a pool with contracts has no row: " + key.id);
  if (pool == nullptr) return;
  const Tally sum = tally(rows_, rows_.contracts_in(key.id));
  expect(sum.resources == pool->committed, 1,
         fmt::format("pool {}: {} is noted as sold, contracts sum to {}", key.id,
                     to_text(pool->committed), to_text(sum.resources)));
  model::Resources carried = sum.resources;
  carried += pool->unaccounted;
  if (sold) {
    expect(pool->pool.capacity.covers(carried), 1,
           fmt::format("pool {}: a grant beyond its capacity: {} of {}", key.id, to_text(carried),
                       to_text(pool->pool.capacity)));
  }
  expect(pool->oversold_since.has_value() != pool->pool.capacity.covers(carried), 1,
         fmt::format("pool {}: whether it is oversold is noted wrongly", key.id));
}

void Laws::check_account(const market::Key& key, const Undo& undo, bool grew) {
  const auto* account = rows_.get<AccountRecord>(key);
  expect(account != nullptr, 3, "a buyer with contracts has no account: " + key.id);
  if (account == nullptr) return;
  Tally sum = tally(rows_, rows_.contracts_of(key.id));
  expect(sum.units == account->units && sum.open_holds == account->open_holds &&
             sum.resources == account->used,
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
               (!quota.cpu_millis || account->used.cpu_millis <= *quota.cpu_millis),
           1, fmt::format("account {}: sold beyond its quota", key.id));
  }
}

void Laws::check_contract(const Contract* before, const Contract& after,
                          const host::Commit& commit) {
  expect(after.is_live() == (count_live(after) > 0), 3,
         fmt::format("contract {}: {} with {} live units", after.id.text, to_text(after.state),
                     count_live(after)));
  expect(has_event_on(commit, after.id.text), 7,
         fmt::format("contract {} changed without an event", after.id.text));
  if (before == nullptr) {
    expect(after.state == ContractState::hold, 1, "a contract that did not begin as a hold");
    check_sale(after, commit.at);
    return;
  }
  check_ladder(*before, after);
  check_calm(*before, after, commit.at);
  check_charges(*before, after, commit.at);
  check_leaving(*before, after, commit);
}

void Laws::check_ladder(const Contract& before, const Contract& after) {
  expect(is_step(before, after), 2,
         fmt::format("contract {}: from {} to {}", after.id.text, to_text(before.state),
                     to_text(after.state)));
  expect(before.buyer == after.buyer && before.pool == after.pool && before.shape == after.shape &&
             before.rate == after.rate && before.units.size() == after.units.size(),
         2, fmt::format("contract {}: what was agreed has changed", after.id.text));
  for (size_t i = 0; i < std::min(before.units.size(), after.units.size()); ++i) {
    expect(before.units[i].live || !after.units[i].live, 2,
           fmt::format("contract {}: a unit came back to life", after.id.text));
    expect(after.units[i].charged <= std::max(before.units[i].reserved, before.units[i].charged), 1,
           fmt::format("contract {}: a unit is charged more than was set aside", after.id.text));
  }
}

void Laws::check_calm(const Contract& before, const Contract& after, Instant at) {
  const bool lapsed = before.state == ContractState::active &&
                      after.state == ContractState::closing && after.reason == EndReason::lapsed;
  const bool expired = before.state == ContractState::hold &&
                       after.state == ContractState::closed && after.reason == EndReason::expired;
  if (!lapsed && !expired) return;
  const auto* epoch = rows_.get<market::EpochRecord>(market::epoch_key());
  const int64_t lost = epoch == nullptr ? 0 : epoch->lost.ms - before.outage_mark.ms;
  const int64_t shift = std::min(lost, before.terms.grace.ms - before.grace_used.ms);
  expect(at.ms >= before.deadline.ms + shift, 4,
         fmt::format("contract {} {} {} ms early", after.id.text, to_text(after.reason),
                     before.deadline.ms + shift - at.ms));
}

// What a unit comes to, worked out anew: time at the rate, at least the minimum term unless the
// provider ended it, rounded up.
void Laws::check_charges(const Contract& before, const Contract& after, Instant at) {
  if (before.state == ContractState::hold) return;  // one batch may release first, then confirm
  const Instant end = before.state == ContractState::closing ? std::min(at, before.deadline) : at;
  const Duration ran{std::max<int64_t>(0, end.ms - after.started->ms)};
  const int64_t bare = rounded_charge(after, ran);
  const int64_t with_minimum = rounded_charge(after, std::max(ran, after.price.minimum_term));
  const bool told_now = is_by_provider(after.reason) && !is_by_provider(before.reason);
  for (size_t i = 0; i < after.units.size(); ++i) {
    if (!before.units[i].live || after.units[i].live) continue;
    const int64_t charged = after.units[i].charged;
    const int64_t expected = is_by_provider(after.reason) ? bare : with_minimum;
    if (expected > before.units[i].reserved) continue;  // capped, or renewed in the same commit
    // In one batch a unit may have been released before the provider gave notice on the rest.
    expect(charged == expected || (told_now && charged == with_minimum), 1,
           fmt::format("contract {}: a unit came to {}, was charged {}", after.id.text,
                       micros_to_text(expected), micros_to_text(charged)));
  }
}

// Who is told to leave has the time to leave that the terms give.
void Laws::check_leaving(const Contract& before, const Contract& after,
                         const host::Commit& commit) {
  const bool by_provider = is_by_provider(after.reason);
  if (before.state == ContractState::active && after.state == ContractState::closing) {
    const Duration leave = by_provider ? after.terms.notice : after.terms.drain;
    expect(after.deadline == commit.at + leave, 4,
           fmt::format("contract {}: not the time to leave that was agreed", after.id.text));
  }
  if (before.state == ContractState::active && after.state == ContractState::closed &&
      by_provider) {
    // In one commit only if the buyer left in the same batch; then there was a notice first.
    const bool told =
        std::any_of(commit.events.begin(), commit.events.end(), [&](const market::Event& event) {
          return event.subject == after.id.text &&
                 event.kind == market::EventKind::contract_closing;
        });
    expect(told, 4, fmt::format("contract {} was ended without notice", after.id.text));
  }
  if (after.state == ContractState::hold) {
    expect(after.deadline <= after.created + rules_.max_hold_total + after.terms.grace, 3,
           fmt::format("contract {}: a hold for longer than any may be", after.id.text));
  }
}

void Laws::check_sale(const Contract& contract, Instant at) {
  const auto* pool = rows_.get<PoolRecord>(market::key_of(contract.pool));
  const auto* offer = rows_.get<market::OfferRecord>(market::key_of(contract.offer));
  const auto* account = rows_.get<AccountRecord>(market::account_key(contract.buyer));
  const auto* epoch = rows_.get<market::EpochRecord>(market::epoch_key());
  expect(pool != nullptr && offer != nullptr && account != nullptr && epoch != nullptr, 3,
         fmt::format("contract {} was sold from nowhere or to nobody", contract.id.text));
  if (pool == nullptr || offer == nullptr || account == nullptr || epoch == nullptr) return;
  expect(!offer->withdrawn && (!offer->offer.until || *offer->offer.until > at), 1,
         fmt::format("contract {} was sold from an offer that is over", contract.id.text));
  expect(pool->lease_until > at && !pool->withdrawn, 1,
         fmt::format("contract {} was sold from a pool that is stale", contract.id.text));
  expect(pool->epoch == epoch->epoch, 4,
         fmt::format("contract {} was sold before its provider confirmed", contract.id.text));
  expect(may_see(offer->offer.visibility, contract.buyer, account->cluster.labels), 5,
         fmt::format("contract {} was sold to one who may not see it", contract.id.text));
}

void Laws::check_sequence(const market::Record& before, const market::Record& after) {
  if (const auto* pool = held<PoolRecord>(before)) {
    const auto* next = held<PoolRecord>(after);
    expect(next != nullptr && next->sequence >= pool->sequence, 2,
           fmt::format("pool {}: an older publication replaced a newer one", pool->pool.id.text));
  }
  if (const auto* offer = held<market::OfferRecord>(before)) {
    const auto* next = held<market::OfferRecord>(after);
    expect(
        next != nullptr && next->sequence >= offer->sequence, 2,
        fmt::format("offer {}: an older publication replaced a newer one", offer->offer.id.text));
    expect(next != nullptr && next->offer.shape == offer->offer.shape &&
               next->offer.labels == offer->offer.labels &&
               next->offer.taints == offer->offer.taints,
           2, fmt::format("offer {}: what cannot change has changed", offer->offer.id.text));
  }
}

void Laws::check_request(const market::Record& before, const market::Record& after, Instant at) {
  const auto* was = held<market::RequestRecord>(before);
  if (was == nullptr) return;
  const auto* is = held<market::RequestRecord>(after);
  expect(was->forget_at <= at || (is != nullptr && is->grants == was->grants), 2,
         fmt::format("key {} of {} got a second answer", was->key, was->buyer.text));
}

// The outage on record must be what the heartbeats show.
void Laws::check_outage(const host::Commit& commit, const Undo& undo) {
  const market::HeartRecord* before = nullptr;
  const market::EpochRecord* was = nullptr;
  bool epoch_changed = false;
  bool judged = false;
  for (const auto& [key, row] : undo.rows) {
    if (key.kind == Kind::contract) judged = true;
    if (key.kind == Kind::heart) before = held<market::HeartRecord>(row.record);
    if (key.kind == Kind::epoch) {
      was = held<market::EpochRecord>(row.record);
      epoch_changed = was != nullptr;
    }
  }
  const auto* after = rows_.get<market::HeartRecord>(market::heart_key());
  const auto* is = rows_.get<market::EpochRecord>(market::epoch_key());
  expect(!judged || (after != nullptr && commit.at - after->beat <= rules_.outage_after), 4,
         "a contract was judged while a silence of all brokers was not yet on record");
  if (before == nullptr || after == nullptr || is == nullptr) return;
  const Duration silence = after->beat - before->beat;
  const bool outage = silence > rules_.outage_after;
  expect(!outage || epoch_changed, 4, "an outage began no epoch");
  if (!epoch_changed) return;
  expect(is->epoch > was->epoch, 4, "an epoch has an old number");
  expect(is->lost - was->lost == (outage ? silence : Duration{}), 4,
         "an outage has the wrong length");
}

void Laws::on_answer(const market::Command& command, const Result<market::Answer>& answer) {
  if (!answer) {
    const Error& error = answer.error();
    expect(!error.thing.empty() && !error.reason.empty() && !error.next.empty(), 7,
           fmt::format("a refusal of {} does not explain itself: {}", name_of(command),
                       error.message()));
    return;
  }
  if (const auto* hold = std::get_if<market::Hold>(&command)) {
    expect(answer->grants.size() == hold->lines.size(), 1, "a hold was granted in part");
    for (size_t i = 0; i < std::min(answer->grants.size(), hold->lines.size()); ++i) {
      const int32_t units = answer->grants[i].units;
      expect(units >= hold->lines[i].at_least && units <= hold->lines[i].units, 1,
             "a line got fewer units than it can use, or more than it asked for");
    }
  }
  for (const market::Grant& grant : answer->grants) {
    Acknowledged& ack = acknowledged_[grant.contract.text];
    ack.units = grant.units;
    check_acknowledged(grant.contract.text, ack);
  }
  if (!answer->contract) return;
  const Contract& contract = *answer->contract;
  if (const auto* look = std::get_if<market::Look>(&command)) {
    expect(look->party == contract.buyer || look->party == contract.provider, 5,
           fmt::format("{} was shown a foreign contract", look->party.text));
    return;
  }
  Acknowledged& ack = acknowledged_[contract.id.text];
  ack.units = static_cast<int32_t>(contract.units.size());
  if (contract.state != ContractState::hold) ack.confirmed = true;
  if (contract.state == ContractState::active) {
    ack.lease_until = std::max(ack.lease_until, contract.deadline);
  }
  for (const model::Unit& unit : contract.units) {
    if (!unit.live) ack.released.insert(unit.number);
  }
  check_acknowledged(contract.id.text, ack);
}

void Laws::check_acknowledged(const std::string& id, const Acknowledged& ack) {
  const auto* contract = rows_.get<Contract>({Kind::contract, id});
  expect(contract != nullptr, 2, fmt::format("contract {} was acknowledged and is not there", id));
  if (contract == nullptr) return;
  expect(static_cast<int32_t>(contract->units.size()) == ack.units, 2,
         fmt::format("contract {} has other units than were acknowledged", id));
  expect(!ack.confirmed || contract->state != ContractState::hold, 2,
         fmt::format("contract {} was confirmed and is a hold", id));
  expect(contract->state != ContractState::active || contract->deadline >= ack.lease_until, 2,
         fmt::format("contract {} was renewed for longer than it runs", id));
  for (const int32_t number : ack.released) {
    expect(!contract->units[static_cast<size_t>(number)].live, 2,
           fmt::format("contract {}: unit {} was released and is live", id, number));
  }
}

void Laws::on_store_crash() {
  for (const auto& [id, ack] : acknowledged_) check_acknowledged(id, ack);
  for (size_t i = 0; i < rows_.events().size(); ++i) {
    expect(rows_.events()[i].sequence == static_cast<int64_t>(i) + 1, 2, "the log has a gap");
  }
}

void Laws::settled() {
  for (const auto& [key, row] : rows_.all()) {
    if (const auto* contract = held<Contract>(row.record)) {
      expect(!contract->is_live(), 3,
             fmt::format("contract {} is {} long after everyone left", key.id,
                         to_text(contract->state)));
    } else if (const auto* pool = held<PoolRecord>(row.record)) {
      expect(pool->committed.is_zero() && !pool->oversold_since, 3,
             fmt::format("pool {} has not got everything back", key.id));
    } else if (const auto* account = held<AccountRecord>(row.record)) {
      expect(account->units == 0 && account->open_holds == 0 && account->used.is_zero(), 3,
             fmt::format("account {} still holds something", key.id));
    } else if (key.kind == Kind::request) {
      expect(false, 3, fmt::format("key {} was never forgotten", key.id));
    }
  }
}

}  // namespace spillway::sim
