#include "services/agent/tenancy.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace spillway::agent {
namespace {

using model::Contract;
using model::ContractState;

constexpr Duration k_overdue = seconds(30);  // so long after its deadline we would have heard
constexpr Duration k_look_again = seconds(60);

bool is_carried(const Contract& contract) {
  return contract.started.has_value() && contract.live_units() > 0;
}

// By then it has ended, whatever outage there was and whoever heard of it.
Instant over_at(const Contract& contract) {
  return contract.deadline + contract.terms.grace + contract.terms.drain + k_overdue;
}

}  // namespace

bool Tenancy::is_ours(const Contract& contract) const {
  const ClusterId& self = context_.options.cluster;
  return contract.provider == self || contract.buyer == self;
}

void Tenancy::start() {
  for (const auto& [id, contract] : context_.state().contracts) calls_.seen(contract);
}

void Tenancy::put(const Contract& contract) {
  if (!is_ours(contract)) return;
  if (!contract.is_live()) {
    calls_.seen(contract);
    return drop(contract.id);
  }
  const auto [entry, is_new] = context_.state().contracts.try_emplace(contract.id, contract);
  Contract& known = entry->second;
  const int32_t before = !is_new && is_carried(known) ? known.live_units() : 0;
  const int32_t sold_before = is_new ? 0 : known.live_units();
  if (!is_new && known == contract) return calls_.seen(contract);
  known = contract;
  context_.keeper.touch();
  const int32_t after = is_carried(known) ? known.live_units() : 0;
  const bool sold = known.provider == context_.options.cluster;
  if (sold && before != after) calls_.carries_changed(known.pool);
  if (sold && sold_before != known.live_units()) calls_.sold_changed();
  calls_.seen(contract);
}

void Tenancy::drop(const ContractId& id) {
  looked_.erase(id);
  const auto found = context_.state().contracts.find(id);
  if (found == context_.state().contracts.end()) return;
  Contract ended = std::move(found->second);
  context_.state().contracts.erase(found);
  context_.keeper.touch();
  const bool sold = ended.provider == context_.options.cluster;
  if (sold && is_carried(ended)) calls_.carries_changed(ended.pool);
  if (sold) calls_.sold_changed();
  ended.state = ContractState::closed;
  calls_.seen(ended);
}

void Tenancy::on_event(const wire::EventBody& event) {
  if (event.kind == "contract-closed") {
    looks_.erase(ContractId(event.subject));
    drop(ContractId(event.subject));
  } else if (event.kind.starts_with("contract-") || event.kind == "units-released") {
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
    put(contract);
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
      carried.push_back({contract->id, contract->live_units(), contract->shape});
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
    Instant due = contract.deadline + k_overdue;
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
  Instant next = look_at_overdue();
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

void Tenancy::ask(const ContractId& id, Look& look) {
  look.again = false;
  look.attempt.in_flight = true;
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
  if (look.again) {
    look.attempt.due = context_.now();
  } else if (answer && answer->contract.id == id) {
    looks_.erase(found);
    put(answer->contract);
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
  if (known == context_.state().contracts.end()) return;
  const Contract& contract = known->second;
  if (is_carried(contract) && context_.now() < over_at(contract)) {
    looked_[id] = context_.now();
    context_.log.write(services::Level::warning, "the broker does not know a contract",
                       {{"contract", id.text}, {"kept until", to_text(over_at(contract))}});
    return;
  }
  context_.log.write(services::Level::warning, "a contract is given up", {{"contract", id.text}});
  drop(id);
}

}  // namespace spillway::agent
