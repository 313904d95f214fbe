#include "sim/laws.h"

#include <algorithm>

namespace spillway::sim {

using market::AccountRecord;
using market::Kind;
using market::PoolRecord;
using model::Contract;
using model::ContractState;

void Laws::expect(bool holds, int law, const std::string& what) {
  ++checks_;
  if (!holds && !broken_) broken_ = fmt::format("law {}: {}", law, what);
}

void Laws::on_commit(const host::Commit& commit, const Undo& undo) {
  std::set<std::string> sold_from;  // pools
  std::set<std::string> sold_to;    // buyers
  std::set<std::string> pools;
  std::set<std::string> buyers;
  const SaleSight sales(rows_, commit, undo);
  for (const auto& [key, before] : undo.rows) {
    const Versioned* now = rows_.find(key);
    const market::Record after = now == nullptr ? market::Record{} : now->record;
    expect(now == nullptr || now->version > before.version, 2, "a version did not grow: " + key.id);
    check_sequence(before.record, after);
    if (key.kind == Kind::request) check_request(before.record, after, commit.at);
    if (key.kind == Kind::token) check_token(before.record, after, commit.at);
    if (key.kind == Kind::identity) check_identity(key.id, before.record, commit, undo);
    if (const auto* card = held<market::CardRecord>(after)) check_card(*card, undo);
    if (key.kind == Kind::agreement) {
      const auto* agreement = held<market::AgreementRecord>(after);
      expect(agreement != nullptr, 3, "what was signed was deleted: " + key.id);
      const auto* previous = held<market::AgreementRecord>(before.record);
      if (agreement != nullptr) check_agreement(previous, *agreement, commit.at);
    }
    if (key.kind == Kind::pool) pools.insert(key.id);
    if (key.kind == Kind::account) buyers.insert(key.id);
    if (key.kind != Kind::contract) continue;
    const auto* contract = held<Contract>(after);
    expect(contract != nullptr, 3, "a contract was deleted: " + key.id);
    if (contract == nullptr) continue;
    const auto* previous = held<Contract>(before.record);
    check_contract(previous, *contract, commit, sales);
    check_signatures(previous, *contract, undo, commit);
    pools.insert(contract->pool.text);
    buyers.insert(contract->buyer.text);
    if (previous == nullptr ? !contract->spare : has_bought(*previous, *contract)) {
      sold_from.insert(contract->pool.text);
      sold_to.insert(contract->buyer.text);
    }
  }
  for (const std::string& id : pools) {
    check_pool({Kind::pool, id}, sold_from.contains(id) ? &sales : nullptr);
    check_on_sale({Kind::pool, id}, commit.at);
  }
  for (const std::string& id : buyers) {
    check_account({Kind::account, id}, undo, sold_to.contains(id));
  }
  check_outage(commit, undo);
  remember_events(commit);
  for (const market::Event& event : commit.events) check_origin(event);
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
  on_identity_answer(command, *answer);
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
  expect(!std::holds_alternative<market::Drained>(command) || !contract.is_live(), 3,
         fmt::format("contract {} is drained and lives on", contract.id.text));
  Acknowledged& ack = acknowledged_[contract.id.text];
  ack.units = static_cast<int32_t>(contract.units.size());
  if (contract.state != ContractState::hold) ack.confirmed = true;
  if (contract.state == ContractState::active) {
    ack.lease_until = std::max(ack.lease_until, contract.deadline);
  }
  for (const model::Unit& unit : contract.units) {
    if (!unit.live) ack.released.insert(unit.number);
    if (unit.bought) ack.bought[unit.number] = *unit.bought;
    // Answers may come in another order than they were made in.
    model::Use& metered = ack.metered[unit.number];
    if (unit.metered.covers(metered)) metered = unit.metered;
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
  for (const auto& [number, metered] : ack.metered) {
    expect(
        contract->units[static_cast<size_t>(number)].metered.covers(metered), 2,
        fmt::format("contract {}: a reading of unit {} was acknowledged and is gone", id, number));
  }
  for (const auto& [number, since] : ack.bought) {
    expect(contract->units[static_cast<size_t>(number)].bought == since, 2,
           fmt::format("contract {}: that unit {} was bought is gone", id, number));
  }
  for (const int32_t number : ack.released) {
    expect(!contract->units[static_cast<size_t>(number)].live, 2,
           fmt::format("contract {}: unit {} was released and is live", id, number));
  }
}

void Laws::on_store_crash() {
  for (const auto& [id, ack] : acknowledged_) check_acknowledged(id, ack);
  check_acknowledged_identities();
  for (size_t i = 0; i < rows_.events().size(); ++i) {
    expect(rows_.events()[i].sequence == rows_.first_event() + static_cast<int64_t>(i), 2,
           "the log has a gap");
  }
}

void Laws::settled() {
  check_invoices();
  for (const auto& [key, row] : rows_.all()) {
    if (const auto* contract = held<Contract>(row.record)) {
      expect(!contract->is_live(), 3,
             fmt::format("contract {} is {} long after everyone left", key.id,
                         to_text(contract->state)));
    } else if (const auto* pool = held<PoolRecord>(row.record)) {
      // The last word of a provider that has vanished stands: nothing is sold by it any more.
      const bool is_silent = pool->lease_until <= clock_();
      expect(
          pool->committed.is_zero() && (is_silent || !pool->oversold_since), 3,
          fmt::format("pool {} has not got everything back: cpu {} committed, cpu {} carried that "
                      "nobody knows{}",
                      key.id, pool->committed.cpu_millis, pool->unaccounted.cpu_millis,
                      pool->oversold_since ? ", oversold" : ""));
    } else if (const auto* account = held<AccountRecord>(row.record)) {
      expect(account->units == 0 && account->spares == 0 && account->open_holds == 0 &&
                 account->used.is_zero(),
             3, fmt::format("account {} still holds something", key.id));
    } else if (key.kind == Kind::request) {
      expect(false, 3, fmt::format("key {} was never forgotten", key.id));
    } else if (key.kind == Kind::token) {
      expect(false, 3, fmt::format("token {} was never forgotten", key.id));
    }
  }
}

}  // namespace spillway::sim
