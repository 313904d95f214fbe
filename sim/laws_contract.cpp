// The laws on one contract: how it begins, what each commit may do to it, and what it comes to.
#include <algorithm>

#include "sim/laws.h"
#include "sim/stated_point.h"

namespace spillway::sim {
namespace {

using market::AccountRecord;
using market::PoolRecord;
using model::Contract;
using model::ContractState;
using model::EndReason;

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

bool is_distance(const Contract& contract, const market::Rules& rules) {
  const int64_t distance = (contract.deadline - *contract.ending_notice).ms;
  return std::any_of(rules.ending_notices.begin(), rules.ending_notices.end(),
                     [&](const market::EndingDistance& one) {
                       const Int128 part = Int128{contract.terms.lease.ms} * one.percent / 100;
                       return distance == (one.percent > 0 ? part : Int128{one.time.ms});
                     });
}

}  // namespace

void Laws::check_contract(const Contract* before, const Contract& after, const host::Commit& commit,
                          const SaleSight& sales) {
  expect(after.is_live() == (count_live(after) > 0), 3,
         fmt::format("contract {}: {} with {} live units", after.id.text, to_text(after.state),
                     count_live(after)));
  expect(has_event_on(commit, after.id.text), 7,
         fmt::format("contract {} changed without an event", after.id.text));
  if (before == nullptr) {
    expect(after.state == ContractState::hold, 1, "a contract that did not begin as a hold");
    check_sale(after, sales, commit.at);
    return;
  }
  check_ladder(*before, after);
  if (has_bought(*before, after)) check_purchase(*before, after, sales, commit.at);
  check_calm(*before, after, commit.at);
  check_metered(*before, after, commit.at);
  check_charges(*before, after, commit.at);
  check_leaving(*before, after, commit);
  check_endings(*before, after, commit);
}

// That a lease ends is said while it runs, when its time has come; the next time is at another of
// the distances, and nearer. So each is told at most once for a lease.
void Laws::check_endings(const Contract& before, const Contract& after,
                         const host::Commit& commit) {
  if (after.ending_notice) {
    expect(
        is_distance(after, rules_), 7,
        fmt::format("contract {} will be said to end at no distance of the rules", after.id.text));
  }
  const auto happened = [&](market::EventKind kind) {
    return std::any_of(commit.events.begin(), commit.events.end(), [&](const auto& event) {
      return event.subject == after.id.text && event.kind == kind;
    });
  };
  const bool is_new_lease = happened(market::EventKind::contract_renewed) ||
                            happened(market::EventKind::contract_confirmed);
  if (!happened(market::EventKind::contract_ending) || is_new_lease) return;
  expect(before.state == ContractState::active && before.ending_notice &&
             *before.ending_notice <= commit.at,
         7, fmt::format("contract {} was said to end too early", after.id.text));
  if (!before.ending_notice || !after.ending_notice) return;
  expect(after.deadline - *after.ending_notice < before.deadline - *before.ending_notice, 7,
         fmt::format("contract {} is said to end twice at one distance", after.id.text));
}

void Laws::check_ladder(const Contract& before, const Contract& after) {
  expect(is_step(before, after), 2,
         fmt::format("contract {}: from {} to {}", after.id.text, to_text(before.state),
                     to_text(after.state)));
  expect(before.buyer == after.buyer && before.pool == after.pool && before.shape == after.shape &&
             before.rate == after.rate && before.spare == after.spare &&
             before.units.size() == after.units.size(),
         2, fmt::format("contract {}: what was agreed has changed", after.id.text));
  for (size_t i = 0; i < std::min(before.units.size(), after.units.size()); ++i) {
    expect(before.units[i].live || !after.units[i].live, 2,
           fmt::format("contract {}: a unit came back to life", after.id.text));
    // What was set aside for one that was bought and given back in one commit is not to be seen.
    const bool is_new = after.units[i].bought && !before.units[i].bought;
    const int64_t most = std::max(before.units[i].reserved, before.units[i].charged);
    expect(is_new || after.units[i].charged <= most, 1,
           fmt::format("contract {}: a unit is charged more than was set aside", after.id.text));
    expect(!before.units[i].bought || before.units[i].bought == after.units[i].bought, 2,
           fmt::format("contract {}: a unit was bought twice", after.id.text));
  }
}

Instant Laws::lease_end_of(const Contract& before) const {
  const auto* epoch = rows_.get<market::EpochRecord>(market::epoch_key());
  return lease_end(before, epoch == nullptr ? Duration{} : epoch->lost - before.outage_mark);
}

void Laws::check_calm(const Contract& before, const Contract& after, Instant at) {
  const bool lapsed = before.state == ContractState::active && after.reason == EndReason::lapsed;
  const bool expired = before.state == ContractState::hold &&
                       after.state == ContractState::closed && after.reason == EndReason::expired;
  if (!lapsed && !expired) return;
  const Instant end = lease_end_of(before);
  expect(at >= end, 4,
         fmt::format("contract {} {} {} ms early", after.id.text, to_text(after.reason),
                     (end - at).ms));
}

// Who is told to leave has the time to leave that the terms give; who lets a lease lapse has its
// drain from the end of the lease, however late the broker sees it.
void Laws::check_leaving(const Contract& before, const Contract& after,
                         const host::Commit& commit) {
  const bool by_provider = is_by_provider(after.reason);
  if (before.state == ContractState::active && after.state == ContractState::closing) {
    const Instant over =
        by_provider ? commit.at + after.terms.notice : lease_end_of(before) + after.terms.drain;
    expect(after.deadline == over, 4,
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

bool Laws::has_bought(const Contract& before, const Contract& after) {
  const auto bought = [](const Contract& contract) {
    return std::count_if(contract.units.begin(), contract.units.end(),
                         [](const model::Unit& unit) { return unit.bought.has_value(); });
  };
  return bought(after) > bought(before);
}

// A sale like any other, at the price that was agreed and is still asked.
void Laws::check_purchase(const Contract& before, const Contract& after, const SaleSight& sales,
                          Instant at) {
  check_sale(after, sales, at);
  const auto* offer =
      sales.met<market::OfferRecord>(market::key_of(after.offer), after.pool, after.id.text);
  expect(offer == nullptr || offer->offer.price == after.price, 1,
         fmt::format("contract {}: a spare was bought at an old price", after.id.text));
  expect(before.spare && before.state <= ContractState::active, 1,
         fmt::format("contract {}: what is {} was bought", after.id.text, to_text(before.state)));
  for (const model::Unit& unit : after.units) {
    const bool is_new = unit.bought && !before.units[static_cast<size_t>(unit.number)].bought;
    expect(!is_new || *unit.bought == at, 1,
           fmt::format("contract {}: unit {} costs from another time than it was bought at",
                       after.id.text, unit.number));
  }
}

void Laws::check_sale(const Contract& contract, const SaleSight& sales, Instant at) {
  const auto* pool = rows_.get<PoolRecord>(market::key_of(contract.pool));
  const auto* offer = rows_.get<market::OfferRecord>(market::key_of(contract.offer));
  const auto* account = rows_.get<AccountRecord>(market::account_key(contract.buyer));
  const auto* epoch = rows_.get<market::EpochRecord>(market::epoch_key());
  expect(pool != nullptr && offer != nullptr && account != nullptr && epoch != nullptr, 3,
         fmt::format("contract {} was sold from nowhere or to nobody", contract.id.text));
  if (pool == nullptr || offer == nullptr || account == nullptr || epoch == nullptr) return;
  pool = sales.met<PoolRecord>(market::key_of(contract.pool), contract.pool, contract.id.text);
  offer = sales.met<market::OfferRecord>(market::key_of(contract.offer), contract.pool,
                                         contract.id.text);
  if (pool == nullptr || offer == nullptr) return;
  expect(!offer->withdrawn && (!offer->offer.until || *offer->offer.until > at), 1,
         fmt::format("contract {} was sold from an offer that is over", contract.id.text));
  expect(pool->lease_until > at && !pool->withdrawn, 1,
         fmt::format("contract {} was sold from a pool that is stale", contract.id.text));
  expect(pool->epoch == epoch->epoch, 4,
         fmt::format("contract {} was sold before its provider confirmed", contract.id.text));
  expect(may_see(offer->offer.visibility, contract.buyer, account->cluster.labels), 5,
         fmt::format("contract {} was sold to one who may not see it", contract.id.text));
}

}  // namespace spillway::sim
