// The life of a contract between hold and closing: confirm, extend, renew; and looking at it.
#include "market/lease.h"

#include <algorithm>

#include "market/account.h"
#include "market/ending_notice.h"
#include "market/mutants.h"
#include "market/outage.h"
#include "market/signing.h"
#include "market/transitions.h"

namespace spillway::market {
namespace {

using model::Contract;
using model::ContractState;

tl::unexpected<Error> ended(const Contract& contract) {
  return fail(Code::gone, "contract " + contract.id.text,
              fmt::format("it is {} ({})", to_text(contract.state), to_text(contract.reason)),
              "hold anew");
}

tl::unexpected<Error> overdue(const Contract& contract, Instant deadline) {
  return fail(
      Code::gone, "contract " + contract.id.text,
      fmt::format("its {} ended at {}", contract.state == ContractState::hold ? "hold" : "lease",
                  to_text(deadline)),
      "hold anew");
}

Status check_in_time(const Contract& contract, const EpochRecord& epoch, Instant now) {
  const Instant deadline = effective_deadline(contract, epoch);
  if (deadline <= now) return overdue(contract, deadline);
  return {};
}

Result<Answer> put_contract(Workspace& workspace, Contract contract, EventKind kind,
                            const Context& context) {
  workspace.emit(
      event_on(contract, kind, context.now, fmt::format("until {}", to_text(contract.deadline))));
  workspace.put(key_of(contract.id), contract);
  return answer_with(std::move(contract));
}

void begin_lease(Contract& contract, Instant end, const EpochRecord& epoch,
                 const Context& context) {
  set_deadline(contract, end, epoch);
  contract.ending_notice = next_ending_notice(contract, context.rules, context.now);
}

// Sets aside what the units can come to under the new end of the lease.
Status reserve_until(AccountRecord& account, Contract& contract, Instant lease_end) {
  const auto needed = [&](const model::Unit& unit) -> int64_t {
    const auto from = contract.paid_from(unit);
    if (!unit.live || !from) return 0;
    return reserve_of(contract.price, contract.rate, contract.terms, lease_end - *from);
  };
  int64_t extra = 0;
  for (const model::Unit& unit : contract.units) {
    extra = checked_add(extra, std::max<int64_t>(0, needed(unit) - unit.reserved));
  }
  // A contract in another currency was made before the budget was: it is seen out, not renewed.
  // What needs nothing more is renewed, also when the operator has lowered the budget since.
  const int64_t left = left_to_promise(account, contract.price.currency);
  if (extra > std::max<int64_t>(0, left) && !mutant(Mutant::renew_beyond_budget)) {
    return fail(
        Code::over_budget, "contract " + contract.id.text,
        fmt::format("another lease needs {} {} set aside, {} is left of the budget",
                    micros_to_text(extra), contract.price.currency.text(), micros_to_text(left)),
        "release units, or ask the operator for a larger budget");
  }
  for (model::Unit& unit : contract.units) {
    unit.reserved = std::max(unit.reserved, needed(unit));
  }
  Purse& purse = purse_in(account, contract.price.currency);
  purse.reserved = checked_add(purse.reserved, extra);
  return {};
}

// The contract for a buyer that wants more of it. Who was revoked may still give back.
Result<Contract> contract_to_keep(Workspace& workspace, const ClusterId& buyer,
                                  const ContractId& id) {
  auto contract = contract_of(workspace, buyer, Side::buyer, id);
  if (!contract) return contract;
  if (auto member = check_not_revoked(workspace, buyer); !member) {
    return tl::unexpected(std::move(member).error());
  }
  return contract;
}

// The buyer's signature: the hold waits for the provider's, no longer than it is held.
Result<Answer> sign(Workspace& workspace, Contract contract, const SignedAgreement& agreement,
                    const Context& context) {
  if (contract.agreement == agreement.id) return answer_with(std::move(contract));
  if (!contract.agreement.empty()) {
    return fail(Code::conflict, "contract " + contract.id.text, "something else is signed already",
                "release it and hold anew");
  }
  SPILLWAY_TRY(check_agreement(workspace, contract, agreement, context.now));
  const Key key = agreement_key(contract.id);
  // Read, to be written. One that is there was written after the contract was read.
  if (workspace.find<AgreementRecord>(key) != nullptr) return at_the_same_time(contract.id);
  AgreementRecord record;
  record.contract = contract.id;
  record.buyer = contract.buyer;
  record.provider = contract.provider;
  record.buyer_key = agreement.agreement.buyer.key;
  record.provider_key = agreement.agreement.provider.key;
  record.id = agreement.id;
  record.document = agreement.document;
  record.sign_by = agreement.agreement.sign_by;
  workspace.put(key, std::move(record));
  contract.agreement = agreement.id;
  return put_contract(workspace, std::move(contract), EventKind::contract_signed, context);
}

}  // namespace

Status check_is_hold(const Contract& contract, const EpochRecord& epoch, Instant now) {
  if (contract.state != ContractState::hold) return ended(contract);
  return check_in_time(contract, epoch, now);
}

Result<Answer> activate(Workspace& workspace, Contract contract, const Context& context) {
  const EpochRecord epoch = current_epoch(workspace);
  const auto* known = workspace.find<AccountRecord>(account_key(contract.buyer));
  if (known == nullptr) return Answer{};  // not loaded yet: an account is never deleted
  AccountRecord account = *known;
  account.open_holds -= 1;
  workspace.put(account_key(contract.buyer), std::move(account));
  contract.state = ContractState::active;
  contract.started = context.now;
  begin_lease(contract, context.now + contract.terms.lease, epoch, context);
  return put_contract(workspace, std::move(contract), EventKind::contract_confirmed, context);
}

Result<Answer> run(Workspace& workspace, const Confirm& command, const Context& context) {
  auto found = contract_to_keep(workspace, command.buyer, command.contract);
  if (!found) return tl::unexpected(std::move(found).error());
  const EpochRecord epoch = current_epoch(workspace);
  if (found->state == ContractState::active) return answer_with(std::move(*found));
  SPILLWAY_TRY(check_is_hold(*found, epoch, context.now));
  if (command.agreement) {
    return sign(workspace, std::move(*found), *command.agreement, context);
  }
  SPILLWAY_TRY(check_may_be_unsigned(workspace, *found));
  return activate(workspace, std::move(*found), context);
}

Result<Answer> run(Workspace& workspace, const Extend& command, const Context& context) {
  auto found = contract_to_keep(workspace, command.buyer, command.contract);
  if (!found) return tl::unexpected(std::move(found).error());
  Contract& contract = *found;
  const EpochRecord epoch = current_epoch(workspace);
  const std::string thing = "contract " + contract.id.text;
  if (command.ttl.ms < 1000 || command.ttl > context.rules.max_hold_ttl) {
    return fail(Code::invalid, thing,
                fmt::format("a ttl of {} is out of range", to_text(command.ttl)),
                fmt::format("ask for 1s to {}", to_text(context.rules.max_hold_ttl)));
  }
  if (contract.state == ContractState::active) {
    return fail(Code::conflict, thing, "it is active, not a hold", "renew its lease instead");
  }
  SPILLWAY_TRY(check_is_hold(contract, epoch, context.now));
  const Instant wanted = context.now + command.ttl;
  const Instant cap = contract.created + context.rules.max_hold_total;
  if (wanted > cap) {
    return fail(
        Code::conflict, thing,
        fmt::format("a hold lives at most {} in all", to_text(context.rules.max_hold_total)),
        fmt::format("confirm it before {}", to_text(effective_deadline(contract, epoch))));
  }
  if (wanted <= effective_deadline(contract, epoch)) return answer_with(std::move(contract));
  SPILLWAY_TRY(take_event(workspace, contract, command.buyer, model::ContractEventKind::extension,
                          command.event));
  set_deadline(contract, wanted, epoch);
  return put_contract(workspace, std::move(contract), EventKind::contract_extended, context);
}

Result<Answer> run(Workspace& workspace, const Renew& command, const Context& context) {
  auto found = contract_to_keep(workspace, command.buyer, command.contract);
  if (!found) return tl::unexpected(std::move(found).error());
  Contract& contract = *found;
  const EpochRecord epoch = current_epoch(workspace);
  const auto* known = workspace.find<AccountRecord>(account_key(contract.buyer));
  if (contract.state == ContractState::hold) {
    return fail(Code::conflict, "contract " + contract.id.text, "it is a hold, not active yet",
                "confirm it first");
  }
  if (contract.state != ContractState::active) return ended(contract);
  SPILLWAY_TRY(check_in_time(contract, epoch, context.now));
  if (known == nullptr) return Answer{};  // not loaded yet: an account is never deleted

  // An outage may have moved the end beyond what was promised: a promise that is shown again then
  // must not take that back.
  if (command.event && command.event->event.until <= effective_deadline(contract, epoch)) {
    return answer_with(std::move(contract));
  }
  SPILLWAY_TRY(take_event(workspace, contract, command.buyer, model::ContractEventKind::renewal,
                          command.event));
  AccountRecord account = *known;
  Instant lease_end = context.now + contract.terms.lease;
  // Nobody is held to pay for longer than what they signed.
  if (command.event) lease_end = std::min(lease_end, *command.event->event.until);
  SPILLWAY_TRY(reserve_until(account, contract, lease_end));
  workspace.put(account_key(contract.buyer), std::move(account));
  begin_lease(contract, lease_end, epoch, context);
  return put_contract(workspace, std::move(contract), EventKind::contract_renewed, context);
}

Result<Answer> run(Workspace& workspace, const Look& command, const Context&) {
  auto found = contract_of(workspace, command.party, Side::either, command.contract);
  if (!found) return tl::unexpected(std::move(found).error());
  return answer_with(std::move(*found));
}

}  // namespace spillway::market
