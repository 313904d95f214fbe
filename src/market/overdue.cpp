#include "market/overdue.h"

#include "market/ending.h"
#include "market/mutants.h"
#include "market/outage.h"
#include "market/transitions.h"

namespace spillway::market {
namespace {

using model::Contract;
using model::ContractState;
using model::EndReason;

void lapse(Workspace& workspace, Contract& contract, const Context& context) {
  const Instant end = mutant(Mutant::drain_from_now) ? context.now : contract.deadline;
  begin_closing(workspace, contract, EndReason::lapsed, end + contract.terms.drain, context);
}

void end_now(Workspace& workspace, Contract& contract, const Context& context) {
  switch (contract.state) {
    case ContractState::hold:
      end_units(workspace, contract, {}, EndReason::expired, context);
      break;
    case ContractState::active:
      lapse(workspace, contract, context);
      break;
    case ContractState::closing:
      end_units(workspace, contract, {}, contract.reason, context, "; nobody said it was drained");
      break;
    case ContractState::closed:
      break;
  }
}

}  // namespace

void move_by_outage(Workspace& workspace, Contract& contract, const Context& context) {
  const EpochRecord epoch = current_epoch(workspace);
  const Duration shift = outage_shift(contract, epoch);
  if (shift.ms <= 0) return;
  contract.deadline = contract.deadline + shift;
  if (contract.ending_notice) contract.ending_notice = *contract.ending_notice + shift;
  contract.outage_mark = epoch.lost;
  contract.grace_used = contract.grace_used + shift;
  workspace.emit(event_on(contract, EventKind::contract_moved, context.now,
                          fmt::format("an outage moved its end by {} to {}", to_text(shift),
                                      to_text(contract.deadline))));
  workspace.put(key_of(contract.id), contract);
}

void end_overdue(Workspace& workspace, Contract& contract, const Context& context) {
  const auto is_overdue = [&] { return contract.is_live() && contract.deadline <= context.now; };
  if (is_overdue()) move_by_outage(workspace, contract, context);
  while (is_overdue()) end_now(workspace, contract, context);
}

void lapse_overdue(Workspace& workspace, Contract& contract, const Context& context) {
  if (contract.state != ContractState::closing) end_overdue(workspace, contract, context);
}

}  // namespace spillway::market
