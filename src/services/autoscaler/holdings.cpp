#include "services/autoscaler/holdings.h"

#include <algorithm>
#include <utility>

#include "market/mutants.h"

namespace spillway::autoscaler {
namespace {

using model::ContractState;
using model::EndReason;

constexpr Duration k_ask_again = seconds(60);

bool is_told(const demand::HeldUnit& unit) {
  return unit.state == demand::UnitState::failed || unit.state == demand::UnitState::deleting;
}

// Why a unit of such a contract is not to be counted on; none: it is.
std::optional<demand::Failure> failure_of(const model::Contract& contract, int32_t number) {
  const auto unit = std::find_if(contract.units.begin(), contract.units.end(),
                                 [number](const model::Unit& one) { return one.number == number; });
  const bool is_live = unit != contract.units.end() && unit->live;
  const bool is_kept =
      contract.state == ContractState::active || contract.state == ContractState::hold;
  if (is_kept && is_live) return std::nullopt;
  const std::string from = "provider " + contract.provider.text;
  switch (contract.reason) {
    case EndReason::noticed:
      return demand::Failure{"notice", from + " has given notice", true, true};
    case EndReason::reclaimed:
      return demand::Failure{"reclaimed", from + " has less than it sold", true, true};
    case EndReason::lapsed:
      return demand::Failure{"lapsed", "the lease was not renewed in time", false};
    case EndReason::expired:
      return demand::Failure{"expired", "the hold was not confirmed in time", false};
    case EndReason::released:
    case EndReason::none:
      break;
  }
  return demand::Failure{"released", "the unit was given back by somebody else", false};
}

}  // namespace

Holdings::Holdings(agent::Context& context, LedgerKeeper& keeper, Calls calls)
    : context_(context),
      keeper_(keeper),
      calls_(std::move(calls)),
      renewals_(context, {[this](const model::Contract& contract) { tenancy_.put(contract); },
                          [this](const ContractId& id) { tenancy_.look_at(id); }}),
      tenancy_(context, {[](const PoolId&) {}, [] {},
                         [this](const model::Contract& contract) { seen(contract); },
                         [this](const ContractId& id) { renewals_.hurry(id); },
                         [this](const ContractId& id) { unknown(id); }}),
      follower_(context, {[this](const wire::EventBody& event) { on_event(event); },
                          [this](const wire::SnapshotAnswer& told) { take_over(told); }, [] {}}) {}

Instant Holdings::step() {
  return std::min({look_at_orphans(), end_untold(), tenancy_.step(), renewals_.step()});
}

const model::Contract* Holdings::find(const ContractId& id) const {
  const auto& contracts = context_.keeper.state().contracts;
  const auto at = contracts.find(id);
  return at == contracts.end() ? nullptr : &at->second;
}

// Between the broker's answer and the ledger's entry there may have been an event, which nobody
// here knew what to do with: so it is looked at once more.
void Holdings::bought(const model::Contract& contract) {
  tenancy_.put(contract);
  tenancy_.look_at(contract.id);
}

std::set<ContractId> Holdings::in_ledger() const {
  std::set<ContractId> ids;
  for (const auto& [id, group] : keeper_.ledger().state().groups) {
    for (const demand::HeldUnit& unit : group.units) ids.insert(unit.contract);
  }
  return ids;
}

void Holdings::on_event(const wire::EventBody& event) {
  const ContractId id(event.subject);
  calls_.told(id);
  if (find(id) != nullptr || in_ledger().contains(id)) tenancy_.on_event(event);
}

void Holdings::take_over(const wire::SnapshotAnswer& snapshot) {
  const std::set<ContractId> ours = in_ledger();
  std::set<ContractId> untold = ours;
  wire::SnapshotAnswer part = snapshot;
  std::erase_if(part.contracts, [&](const model::Contract& contract) {
    untold.erase(contract.id);
    return !ours.contains(contract.id);
  });
  tenancy_.take_over(part);
  for (const ContractId& id : untold) tenancy_.look_at(id);  // ended, or more than fitted in
}

// Those whose last unit has left the ledger need not be remembered.
void Holdings::remember_over(const ContractId& id) {
  const std::set<ContractId> ours = in_ledger();
  std::erase_if(over_, [&](const ContractId& one) { return !ours.contains(one); });
  over_.insert(id);
}

void Holdings::seen(const model::Contract& contract) {
  renewals_.seen(contract);
  orphans_.erase(contract.id);
  if (!contract.is_live() && context_.signing != nullptr) context_.signing->note_end(contract.id);
  const demand::GroupState* group = keeper_.ledger().find(contract.offer);
  if (group == nullptr) return;
  bool is_changed = false;
  for (const demand::HeldUnit& unit : std::vector(group->units)) {
    if (unit.contract != contract.id) continue;
    if (!contract.is_live() && !is_over(contract.id)) {
      remember_over(contract.id);
      is_changed = true;
    }
    const auto failure = failure_of(contract, unit.number);
    if (is_told(unit) || !failure) continue;
    calls_.lose(contract.offer, unit, *failure);
    is_changed = true;
  }
  if (is_changed) calls_.changed();
}

std::vector<std::pair<OfferId, demand::HeldUnit>> Holdings::counted_on(const ContractId& id) const {
  std::vector<std::pair<OfferId, demand::HeldUnit>> units;
  for (const auto& [offer, group] : keeper_.ledger().state().groups) {
    for (const demand::HeldUnit& unit : group.units) {
      if (unit.contract == id && !is_told(unit)) units.emplace_back(offer, unit);
    }
  }
  return units;
}

// A broker that came back from a backup may hear of it from elsewhere: it is asked until the grace
// is over.
void Holdings::unknown(const ContractId& id) {
  const auto units = counted_on(id);
  if (units.empty()) return;
  const Instant now = context_.now();
  const Duration grace = keeper_.ledger().find(units[0].first)->offer.terms.grace;
  const auto [orphan, is_new] = orphans_.try_emplace(id, Orphan{now + grace, {}});
  const Instant until = orphan->second.until;
  orphan->second.look_at = std::min(until, now + k_ask_again);
  context_.wake_by(orphan->second.look_at);
  if (is_new) {
    context_.log.write(services::Level::warning, "the broker does not know a unit's contract",
                       {{"contract", id.text}, {"kept until", to_text(until)}});
  }
  if (now < until || market::mutant(market::Mutant::keep_orphans)) return;
  lose_all(id, {"unknown", "the broker does not know its contract", false});
}

void Holdings::lose_all(const ContractId& id, const demand::Failure& failure) {
  for (const auto& [group, unit] : counted_on(id)) calls_.lose(group, unit, failure);
  orphans_.erase(id);
  remember_over(id);
  calls_.changed();
}

// Who was started while the broker is silent knows no contract, only that each ends no later than
// a full lease and all that may follow it. What the process before had sent may still renew one
// after that.
Instant Holdings::end_untold() {
  Instant next = agent::k_never;
  for (const ContractId& id : in_ledger()) {
    if (find(id) != nullptr || orphans_.contains(id)) continue;
    const auto units = counted_on(id);
    if (units.empty()) continue;
    const model::Terms& terms = keeper_.ledger().find(units[0].first)->offer.terms;
    const Instant at = context_.heard + host::k_under_way + terms.lease + terms.grace +
                       terms.drain + context_.options.overdue;
    if (at > context_.now()) {
      next = std::min(next, at);
    } else {
      lose_all(id, {"lapsed", "the broker was silent beyond the end of the lease", false});
    }
  }
  return next;
}

Instant Holdings::look_at_orphans() {
  const Instant now = context_.now();
  Instant next = agent::k_never;
  std::erase_if(orphans_, [this](const auto& entry) { return counted_on(entry.first).empty(); });
  for (auto& [id, orphan] : orphans_) {
    if (orphan.look_at <= now) {
      orphan.look_at = now + k_ask_again;
      tenancy_.look_at(id);
    }
    next = std::min(next, orphan.look_at);
  }
  return next;
}

}  // namespace spillway::autoscaler
