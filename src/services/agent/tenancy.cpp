#include "services/agent/tenancy.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "market/mutants.h"
#include "market/outage.h"

namespace spillway::agent {
namespace {

using model::Contract;
using model::ContractState;

constexpr Duration k_look_again = seconds(60);
constexpr Duration k_answers_within = seconds(5);

bool has_begun(const Contract& contract) {
  return contract.started.has_value() && contract.live_units() > 0;
}

// Spares take nothing of the pool.
bool is_carried(const Contract& contract) {
  return has_begun(contract) && contract.bought_units() > 0;
}

// A lease only grows: of two answers the one with the earlier end was written first.
bool is_older(const Contract& told, const Contract& known) {
  return known.state == ContractState::active && told.state == ContractState::active &&
         told.deadline < known.deadline;
}

}  // namespace

bool Tenancy::is_ours(const Contract& contract) const {
  const ClusterId& self = context_.options.cluster;
  return contract.provider == self || contract.buyer == self;
}

void Tenancy::start() {
  for (const auto& [id, contract] : context_.state().contracts) calls_.seen(contract);
}

// By an answer to something else, which may have been overtaken on its way; or overtakes one that
// is under way. A broker that has gone back says so when it is asked.
void Tenancy::put(const Contract& contract) {
  const auto known = context_.state().contracts.find(contract.id);
  const bool is_known = known != context_.state().contracts.end();
  if (is_known && is_older(contract, known->second)) return look_at(contract.id);
  const auto look = looks_.find(contract.id);
  if (look != looks_.end()) look->second.again = look->second.attempt.in_flight;
  take(contract);
}

void Tenancy::take(const Contract& contract) {
  if (!is_ours(contract)) return;
  orphans_.erase(contract.id);
  if (!contract.is_live()) {
    calls_.seen(contract);
    return drop(contract.id, contract.reason);
  }
  // It does not come back to life: the broker is being told (untold.h).
  if (context_.state().ended_unheard.contains(contract.id)) return;
  const auto [entry, is_new] = context_.state().contracts.try_emplace(contract.id, contract);
  Contract& known = entry->second;
  const int32_t before = !is_new && is_carried(known) ? known.bought_units() : 0;
  const int32_t sold_before = is_new ? 0 : known.bought_units();
  if (!is_new && known == contract) return calls_.seen(contract);
  known = contract;
  context_.keeper.touch();
  const int32_t after = is_carried(known) ? known.bought_units() : 0;
  const bool sold = known.provider == context_.options.cluster;
  if (sold && before != after) calls_.carries_changed(known.pool);
  if (sold && sold_before != known.bought_units()) calls_.sold_changed();
  calls_.seen(contract);
}

void Tenancy::drop(const ContractId& id, model::EndReason reason) {
  looked_.erase(id);
  orphans_.erase(id);
  const auto found = context_.state().contracts.find(id);
  if (found == context_.state().contracts.end()) return;
  Contract ended = std::move(found->second);
  context_.state().contracts.erase(found);
  context_.keeper.touch();
  const bool sold = ended.provider == context_.options.cluster;
  if (sold && is_carried(ended)) calls_.carries_changed(ended.pool);
  if (sold) calls_.sold_changed();
  ended.state = ContractState::closed;
  ended.reason = reason;
  calls_.seen(ended);
}

void Tenancy::on_event(const wire::EventBody& event) {
  if (event.kind == "contract-closed") {
    const auto known = context_.state().contracts.find(ContractId(event.subject));
    // Signed, perhaps, before a kill that the state has not survived: papers want to know.
    const bool is_known = known != context_.state().contracts.end();
    if (!is_known) return look_at(ContractId(event.subject), event.sequence);
    looks_.erase(known->first);
    drop(known->first, known->second.reason);
  } else if (event.kind == "contract-ending") {
    context_.log.write(services::Level::warning, "a lease ends that was not renewed",
                       {{"contract", event.subject}, {"detail", event.detail}});
    calls_.ending(ContractId(event.subject));
  } else if (event.kind.starts_with("contract-") || event.kind.starts_with("units-")) {
    look_at(ContractId(event.subject), event.sequence);
  }
}

void Tenancy::look_at(const ContractId& id, int64_t sequence) {
  if (!check_contract_id(id.text)) return;
  Look& look = looks_[id];
  look.since = std::min(look.since, sequence);
  look.again = look.attempt.in_flight;
  context_.wake_by(context_.now());
}

void Tenancy::take_over(const wire::SnapshotAnswer& snapshot) {
  turn_ += 1;
  in_flight_ = 0;
  looks_.clear();
  std::set<ContractId> told;
  for (const Contract& contract : snapshot.contracts) {
    told.insert(contract.id);
    take(contract);
  }
  // Ended since, or never heard of: the broker is asked about each. Who is killed before the
  // answers came begins with a snapshot again: no event would tell of them.
  for (const auto& entry : context_.state().contracts) {
    if (!told.contains(entry.first)) look_at(entry.first, 0);
  }
}

std::vector<const Contract*> Tenancy::sold_from(const PoolId& pool) const {
  std::vector<const Contract*> sold;
  for (const auto& [id, contract] : context_.keeper.state().contracts) {
    if (contract.pool == pool && contract.provider == context_.options.cluster) {
      sold.push_back(&contract);
    }
  }
  return sold;
}

std::vector<market::Carried> Tenancy::carries(const PoolId& pool) const {
  std::vector<market::Carried> carried;
  for (const Contract* contract : sold_from(pool)) {
    if (is_carried(*contract)) {
      carried.push_back({contract->id, contract->bought_units(), contract->shape});
    }
  }
  return carried;
}

int64_t Tenancy::settled_through(int64_t heard) const {
  for (const auto& [id, look] : looks_) {
    if (look.since != INT64_MAX) heard = std::min(heard, look.since - 1);
  }
  return heard;
}

int64_t Tenancy::sold() const {
  const auto& contracts = context_.keeper.state().contracts;
  return std::count_if(contracts.begin(), contracts.end(), [this](const auto& entry) {
    return entry.second.provider == context_.options.cluster;
  });
}

int64_t Tenancy::bought() const {
  const auto& contracts = context_.keeper.state().contracts;
  return std::count_if(contracts.begin(), contracts.end(), [this](const auto& entry) {
    return entry.second.buyer == context_.options.cluster;
  });
}

// Whatever was heard or lost: a contract that should have ended is looked at.
Instant Tenancy::look_at_overdue() {
  const Instant now = context_.now();
  Instant next = k_never;
  for (const auto& [id, contract] : context_.state().contracts) {
    Instant due = contract.deadline + context_.options.overdue;
    const auto looked = looked_.find(id);
    if (looked != looked_.end()) due = std::max(due, looked->second + k_look_again);
    if (due > now) {
      next = std::min(next, due);
    } else if (!looks_.contains(id)) {
      looked_[id] = now;
      look_at(id);
    }
  }
  return next;
}

Instant Tenancy::step() {
  Instant next = std::min(look_at_overdue(), end_unheard());
  const Instant now = context_.now();
  for (auto& [id, look] : looks_) {
    if (look.attempt.in_flight) continue;
    if (!look.attempt.is_due(now, host::k_refused_wait)) {
      next = std::min(next, look.attempt.due);
    } else if (in_flight_ < k_most_in_flight) {
      ask(id, look);
    }
  }
  return next;
}

// What the broker was asked about, and says nothing of beyond the stated point.
Instant Tenancy::end_unheard() {
  Instant next = k_never;
  std::vector<ContractId> ended;
  for (const auto& [id, look] : looks_) {
    const auto known = context_.state().contracts.find(id);
    const bool is_asking = look.attempt.in_flight;
    if (known == context_.state().contracts.end() || (!is_asking && !look.is_unanswered)) continue;
    Instant at = market::ends_unheard(known->second, context_.heard) + context_.options.overdue;
    if (!look.is_unanswered) at = std::max(at, look.attempt.due);
    if (at > context_.now()) {
      next = std::min(next, at);
    } else if (!market::mutant(market::Mutant::keep_orphans)) {
      ended.push_back(id);
    }
  }
  for (const ContractId& id : ended) end_here(id, "the broker was silent beyond its end");
  return next;
}

void Tenancy::end_here(const ContractId& id, std::string_view why) {
  const Contract& contract = context_.state().contracts.at(id);
  context_.log.write(services::Level::warning, "a contract is ended here",
                     {{"contract", id.text},
                      {"why", std::string(why)},
                      {"ends no later than", to_text(market::ends_no_later_than(contract))},
                      {"broker heard", to_text(context_.heard)}});
  const bool is_sold = contract.provider == context_.options.cluster && has_begun(contract);
  if (is_sold && !market::mutant(market::Mutant::end_in_silence)) {
    context_.state().ended_unheard[id] = context_.now();
  }
  orphans_found_ += orphans_.insert(id).second ? 1 : 0;
  orphans_ended_ += 1;
  looks_.erase(id);
  drop(id, model::EndReason::lapsed);
}

void Tenancy::ask(const ContractId& id, Look& look) {
  look.again = false;
  look.attempt.in_flight = true;
  // A question that hangs is no answer either.
  look.attempt.due = context_.now() + k_answers_within;
  context_.wake_by(look.attempt.due);
  in_flight_ += 1;
  context_.client.get_contract(
      id, life_.guard([this, id, turn = turn_](const Result<wire::ContractAnswer>& answer) {
        if (turn != turn_) return;
        in_flight_ -= 1;
        context_.wake_by(context_.now());
        on_answer(id, answer);
      }));
}

void Tenancy::on_answer(const ContractId& id, const Result<wire::ContractAnswer>& answer) {
  const auto found = looks_.find(id);
  if (found == looks_.end()) return;  // it was closed while we asked
  Look& look = found->second;
  look.attempt.in_flight = false;
  look.is_unanswered = !answer && answer.error().code != Code::not_found;
  if (answer) context_.hear();
  if (look.again) {
    look.attempt.due = context_.now();
  } else if (answer && answer->contract.id == id) {
    looks_.erase(found);
    take(answer->contract);
  } else if (!answer && answer.error().code == Code::not_found) {
    looks_.erase(found);
    on_unknown(id);
  } else {
    const Error error = answer ? Error{Code::internal, "contract " + id.text,
                                       "the broker told of another one", "look at the broker"}
                               : answer.error();
    look.attempt.fail(context_, "contract not looked at", error);
    context_.wake_by(look.attempt.due);
  }
}

void Tenancy::on_unknown(const ContractId& id) {
  const auto known = context_.state().contracts.find(id);
  if (known == context_.state().contracts.end()) return calls_.unknown(id);
  const Contract& contract = known->second;
  // By then it has ended, whatever outage there was and whoever heard of it.
  const Instant over_at = market::ends_no_later_than(contract) + context_.options.overdue;
  const bool is_kept = context_.now() < over_at || market::mutant(market::Mutant::keep_orphans);
  if (!has_begun(contract)) return drop(id, model::EndReason::none);
  if (!is_kept) return end_here(id, "the broker does not know it");
  looked_[id] = context_.now();
  if (!orphans_.insert(id).second) return;
  orphans_found_ += 1;
  context_.log.write(services::Level::warning, "the broker does not know a contract",
                     {{"contract", id.text}, {"kept until", to_text(over_at)}});
}

}  // namespace spillway::agent
