#include "market/ending.h"

#include <algorithm>

#include "base/check.h"
#include "market/account.h"
#include "market/metering.h"
#include "market/mutants.h"
#include "market/outage.h"
#include "market/overdue.h"
#include "market/pool_state.h"
#include "market/signing.h"
#include "market/transitions.h"

namespace spillway::market {
namespace {

using model::Contract;
using model::ContractState;
using model::EndReason;

bool is_named(const std::vector<int32_t>& units, int32_t number) {
  return units.empty() || std::find(units.begin(), units.end(), number) != units.end();
}

struct Ended {
  int32_t units = 0;
  int32_t spares = 0;  // among them
  int64_t reserved = 0;
  int64_t charged = 0;
};

Ended end_named(Contract& contract, const std::vector<int32_t>& units, EndReason reason,
                Instant now) {
  Ended ended;
  for (model::Unit& unit : contract.units) {
    if (!unit.live || !is_named(units, unit.number)) continue;
    ended.units += 1;
    if (contract.is_spare(unit)) ended.spares += 1;
    ended.reserved = checked_add(ended.reserved, unit.reserved);
    const Charge charge = charge_of(contract, unit, reason, now);
    unit.charged = charge.total();
    unit.charged_for_use = charge.use;
    ended.charged = checked_add(ended.charged, unit.charged);
    unit.live = false;
    unit.ended = paid_end(contract, now);
    unit.reserved = 0;
  }
  return ended;
}

void settle(Workspace& workspace, const Contract& contract, const Ended& ended, bool was_hold) {
  const auto* known = workspace.find<AccountRecord>(account_key(contract.buyer));
  if (known == nullptr) return;  // not loaded yet: an account is never deleted
  AccountRecord account = *known;
  if (!mutant(Mutant::forget_quota)) {
    account.units -= ended.units - ended.spares;
    account.spares -= ended.spares;
    account.used -= contract.shape.times(ended.units - ended.spares);
  }
  if (was_hold && !contract.is_live()) account.open_holds -= 1;
  Purse& purse = purse_in(account, contract.price.currency);
  if (!mutant(Mutant::forget_budget)) purse.reserved -= ended.reserved;
  purse.spent = checked_add(purse.spent, ended.charged);
  workspace.put(account_key(contract.buyer), std::move(account));
}

void give_back(Workspace& workspace, const Contract& contract, int32_t units,
               const Context& context) {
  if (mutant(Mutant::forget_release)) return;
  const auto* known = workspace.find<PoolRecord>(key_of(contract.pool));
  if (known == nullptr) return;  // not loaded yet: a pool's row is never deleted
  PoolRecord pool = *known;
  pool.committed -= contract.shape.times(units);
  put_pool(workspace, std::move(pool), context.now, context.rules.reclaim_after);
}

Status check_units(const Contract& contract, const std::vector<int32_t>& units) {
  if (units.size() > contract.units.size()) {
    return fail(Code::invalid, "contract " + contract.id.text,
                fmt::format("{} units are named, it has {}", units.size(), contract.units.size()),
                "name each unit once, or none to release all");
  }
  for (const int32_t number : units) {
    if (number >= 0 && number < static_cast<int32_t>(contract.units.size())) continue;
    return fail(Code::invalid, "contract " + contract.id.text,
                fmt::format("it has no unit {}", number),
                fmt::format("its units are 0 to {}", contract.units.size() - 1));
  }
  return {};
}

bool ends_any(const Contract& contract, const std::vector<int32_t>& units) {
  return std::any_of(contract.units.begin(), contract.units.end(), [&](const model::Unit& unit) {
    return unit.live && is_named(units, unit.number);
  });
}

// Who leaves what is closing says so by giving its last unit back, or in as many words.
void say_drained(Workspace& workspace, const Contract& contract, const ClusterId& by,
                 const Context& context) {
  workspace.emit(event_on(contract, EventKind::contract_drained, context.now,
                          fmt::format("nothing of it runs any more, says {}", by.text)));
}

bool ends_all(const Contract& contract, const std::vector<int32_t>& units) {
  return std::all_of(contract.units.begin(), contract.units.end(), [&](const model::Unit& unit) {
    return !unit.live || is_named(units, unit.number);
  });
}

// The units that were signed for are those that are asked for.
Status check_release(const Contract& contract, const Release& command) {
  if (!command.event || command.event->event.units == command.units) return {};
  return fail(Code::conflict, "contract " + contract.id.text,
              "the release that was signed names other units", "sign for the units to be released");
}

}  // namespace

void end_units(Workspace& workspace, Contract& contract, const std::vector<int32_t>& units,
               EndReason reason, const Context& context, std::string_view remark) {
  const bool was_hold = contract.state == ContractState::hold;
  // Who leaves early while closing leaves for the reason for which it is closing.
  if (contract.reason != EndReason::none) reason = contract.reason;
  const Ended ended = end_named(contract, units, reason, context.now);
  if (ended.units == 0) return;
  const bool last = contract.live_units() == 0;
  if (last) {
    contract.state = ContractState::closed;
    contract.reason = reason;
    contract.deadline = context.now;
    contract.ending_notice.reset();
  }
  give_back(workspace, contract, ended.units - ended.spares, context);
  settle(workspace, contract, ended, was_hold);
  if (!mutant(Mutant::silent_ending)) {
    workspace.emit(event_on(
        contract, last ? EventKind::contract_closed : EventKind::units_released, context.now,
        fmt::format("{} units, {}, {} {}{}", ended.units, to_text(reason),
                    micros_to_text(ended.charged), contract.price.currency.text(), remark)));
  }
  workspace.put(key_of(contract.id), contract);
}

void begin_closing(Workspace& workspace, Contract& contract, EndReason reason, Instant over,
                   const Context& context) {
  if (contract.state == ContractState::hold) {
    end_units(workspace, contract, {}, reason, context);
    return;
  }
  SPILLWAY_CHECK(contract.state == ContractState::active, "only an active contract can close");
  contract.state = ContractState::closing;
  contract.reason = reason;
  set_deadline(contract, over, current_epoch(workspace));
  workspace.emit(
      event_on(contract, EventKind::contract_closing, context.now,
               fmt::format("{}; over at {}", to_text(reason), to_text(contract.deadline))));
  workspace.put(key_of(contract.id), contract);
}

void take_back(Workspace& workspace, Contract& contract, EndReason reason, const Context& context) {
  if (contract.state != ContractState::hold && contract.state != ContractState::active) return;
  begin_closing(workspace, contract, reason, context.now + contract.terms.notice, context);
}

Result<Answer> run(Workspace& workspace, const Release& command, const Context& context) {
  auto found = contract_of(workspace, command.buyer, Side::buyer, command.contract);
  if (!found) return tl::unexpected(std::move(found).error());
  SPILLWAY_TRY(check_units(*found, command.units));
  lapse_overdue(workspace, *found, context);
  if (mutant(Mutant::release_twice) && found->live_units() == 0) {
    give_back(workspace, *found, 1, context);
  }
  if (found->started && ends_any(*found, command.units)) {
    SPILLWAY_TRY(check_release(*found, command));
    SPILLWAY_TRY(take_event(workspace, *found, command.buyer, model::ContractEventKind::release,
                            command.event));
  }
  if (found->state == ContractState::closing && ends_all(*found, command.units)) {
    say_drained(workspace, *found, command.buyer, context);
  }
  // What ended before stays as it is: a retry of a release is no error and changes nothing.
  end_units(workspace, *found, command.units, EndReason::released, context);
  return answer_with(std::move(*found));
}

Result<Answer> run(Workspace& workspace, const Drained& command, const Context& context) {
  auto found = contract_of(workspace, command.party, Side::either, command.contract);
  if (!found) return tl::unexpected(std::move(found).error());
  lapse_overdue(workspace, *found, context);
  if (!found->is_live()) return answer_with(std::move(*found));  // its answer was lost
  if (found->state != ContractState::closing) {
    const bool is_buyer = command.party == found->buyer;
    return fail(Code::conflict, "contract " + found->id.text,
                fmt::format("it is {}, not closing", to_text(found->state)),
                is_buyer ? "release it" : "give notice first");
  }
  SPILLWAY_TRY(take_event(workspace, *found, command.party, model::ContractEventKind::drained,
                          command.event));
  if (mutant(Mutant::forget_drained)) return answer_with(std::move(*found));
  say_drained(workspace, *found, command.party, context);
  end_units(workspace, *found, {}, found->reason, context);
  return answer_with(std::move(*found));
}

Result<Answer> run(Workspace& workspace, const GiveNotice& command, const Context& context) {
  auto found = contract_of(workspace, command.provider, Side::provider, command.contract);
  if (!found) return tl::unexpected(std::move(found).error());
  lapse_overdue(workspace, *found, context);  // what has lapsed was not taken back
  if (found->state == ContractState::hold || found->state == ContractState::active) {
    if (found->started) {
      SPILLWAY_TRY(take_event(workspace, *found, command.provider, model::ContractEventKind::notice,
                              command.event));
    }
    if (mutant(Mutant::end_without_notice)) {
      end_units(workspace, *found, {}, EndReason::noticed, context);
      return answer_with(std::move(*found));
    }
    take_back(workspace, *found, EndReason::noticed, context);
  }
  return answer_with(std::move(*found));
}

}  // namespace spillway::market
