#include "services/autoscaler/holdings.h"

#include <algorithm>
#include <utility>

namespace spillway::autoscaler {
namespace {

using model::ContractState;
using model::EndReason;

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
                         [this](const model::Contract& contract) { seen(contract); }}),
      follower_(context, {[this](const wire::EventBody& event) { on_event(event); },
                          [this](const wire::SnapshotAnswer& told) { take_over(told); }, [] {}}) {}

Instant Holdings::step() { return std::min(tenancy_.step(), renewals_.step()); }

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
  const demand::GroupState* group = keeper_.ledger().find(contract.offer);
  if (group == nullptr) return;
  bool is_changed = false;
  for (const demand::HeldUnit& unit : std::vector(group->units)) {
    if (unit.contract != contract.id) continue;
    if (!contract.is_live() && !is_over(contract.id)) {
      remember_over(contract.id);
      is_changed = true;
    }
    const bool is_told =
        unit.state == demand::UnitState::failed || unit.state == demand::UnitState::deleting;
    const auto failure = failure_of(contract, unit.number);
    if (is_told || !failure) continue;
    context_.log.write(services::Level::warning, "a unit is lost",
                       {{"unit", unit_name(unit.contract, unit.number)},
                        {"group", contract.offer.text},
                        {"code", failure->code},
                        {"why", failure->message}});
    keeper_.ledger().failed(unit.contract, unit.number, *failure, context_.now());
    calls_.lost(unit, contract, *failure);
    is_changed = true;
  }
  if (!is_changed) return;
  keeper_.touch();
  calls_.changed();
}

}  // namespace spillway::autoscaler
