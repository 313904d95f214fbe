// Spares: units that were agreed on and take nothing. Buying one is a sale like a hold (law 1: in
// that commit the pool covers it), without a new contract: price, terms and names were agreed on.
#include <algorithm>

#include "market/account.h"
#include "market/mutants.h"
#include "market/outage.h"
#include "market/pool_state.h"
#include "market/signing.h"
#include "market/transitions.h"

namespace spillway::market {
namespace {

using model::Contract;
using model::ContractState;
using model::Unit;

tl::unexpected<Error> refuse_buying(Code code, const Contract& contract, std::string reason,
                                    std::string next) {
  return fail(code, "contract " + contract.id.text, std::move(reason), std::move(next));
}

Status check_named(const Contract& contract, const Buy& command) {
  if (!contract.spare) {
    return refuse_buying(Code::conflict, contract, "it is not of spares", "hold units instead");
  }
  if (command.units.empty()) {
    return refuse_buying(Code::invalid, contract, "no unit is named", "name the spares to buy");
  }
  for (size_t i = 0; i < command.units.size(); ++i) {
    const int32_t number = command.units[i];
    if (number < 0 || number >= static_cast<int32_t>(contract.units.size())) {
      return refuse_buying(Code::invalid, contract, fmt::format("it has no unit {}", number),
                           fmt::format("its units are 0 to {}", contract.units.size() - 1));
    }
    if (i > 0 && command.units[i - 1] >= number) {
      return refuse_buying(Code::invalid, contract,
                           fmt::format("unit {} is out of order or there twice", number),
                           "name each unit once, in their order");
    }
    if (!contract.units[static_cast<size_t>(number)].live) {
      return refuse_buying(Code::gone, contract, fmt::format("unit {} has ended", number),
                           "buy others, or hold anew");
    }
  }
  if (!command.event || command.event->event.units == command.units) return {};
  return refuse_buying(Code::conflict, contract, "the purchase that was signed names other units",
                       "sign for the units to be bought");
}

Status check_state(const Contract& contract, const EpochRecord& epoch, Instant now) {
  if (contract.state == ContractState::hold) {
    return refuse_buying(Code::conflict, contract, "it is a hold, not active yet",
                         "confirm it first");
  }
  if (contract.state == ContractState::active && effective_deadline(contract, epoch) > now) {
    return {};
  }
  const bool is_over = contract.state != ContractState::active;
  return refuse_buying(
      Code::gone, contract,
      is_over ? fmt::format("it is {} ({})", to_text(contract.state), to_text(contract.reason))
              : fmt::format("its lease ended at {}", to_text(effective_deadline(contract, epoch))),
      "hold anew");
}

// Nobody is bound to an old price by spares that cost their buyer nothing to keep.
Status check_still_offered(const OfferRecord* offer, const AccountRecord& account,
                           const Contract& contract, Instant now) {
  const std::string next = "give the spares back, and look at what is offered now";
  const bool is_offered =
      offer != nullptr && !offer->withdrawn && (!offer->offer.until || *offer->offer.until > now);
  if (!is_offered) {
    return refuse_buying(Code::gone, contract, "its offer is no longer on sale", next);
  }
  if (!may_see(offer->offer.visibility, account.cluster.id, account.cluster.labels)) {
    return refuse_buying(Code::gone, contract, "its offer is no longer for you", next);
  }
  if (offer->offer.price == contract.price && offer->offer.terms == contract.terms) return {};
  return refuse_buying(Code::gone, contract, "its offer has another price or other terms by now",
                       next);
}

Status check_room(const PoolRecord& pool, const AccountRecord& account, const OfferRecord& offer,
                  const Contract& contract, int32_t units, int64_t reserve,
                  const EpochRecord& epoch, Instant now) {
  if (const auto why = why_not_sold(pool, epoch, now); !why.empty()) {
    return refuse_buying(Code::taken, contract, std::string(why), "try later, or another offer");
  }
  const int32_t free = free_of(pool).how_many(contract.shape);
  if (free < units && !mutant(Mutant::buy_uncovered)) {
    return refuse_buying(Code::taken, contract,
                         fmt::format("{} units are wanted, {} are free", units, free),
                         "buy fewer, try later, or another offer");
  }
  const Room room = room_for(account, offer.offer, reserve, units, OpensHold::no);
  if (room.units >= units) return {};
  return refuse_buying(room.why, contract, room.reason, room.next);
}

}  // namespace

Result<Answer> run(Workspace& workspace, const Buy& command, const Context& context) {
  auto found = contract_of(workspace, command.buyer, Side::buyer, command.contract);
  if (!found) return tl::unexpected(std::move(found).error());
  SPILLWAY_TRY(check_not_revoked(workspace, command.buyer));
  Contract& contract = *found;
  const EpochRecord epoch = current_epoch(workspace);
  const auto* account = workspace.find<AccountRecord>(account_key(contract.buyer));
  const auto* pool = workspace.find<PoolRecord>(key_of(contract.pool));
  const auto* offer = workspace.find<OfferRecord>(key_of(contract.offer));
  SPILLWAY_TRY(check_named(contract, command));
  SPILLWAY_TRY(check_state(contract, epoch, context.now));
  if (account == nullptr || pool == nullptr) return Answer{};  // not loaded yet: never deleted

  std::vector<Unit*> spares;
  for (const int32_t number : command.units) {
    Unit& unit = contract.units[static_cast<size_t>(number)];
    if (contract.is_spare(unit)) spares.push_back(&unit);
  }
  if (spares.empty()) return answer_with(std::move(contract));  // its answer was lost
  const auto units = static_cast<int32_t>(spares.size());
  const Instant lease_end = effective_deadline(contract, epoch);
  const int64_t reserve =
      reserve_of(contract.price, contract.rate, contract.terms, lease_end - context.now);
  SPILLWAY_TRY(check_still_offered(offer, *account, contract, context.now));
  SPILLWAY_TRY(check_room(*pool, *account, *offer, contract, units, reserve, epoch, context.now));
  SPILLWAY_TRY(take_event(workspace, contract, command.buyer, model::ContractEventKind::purchase,
                          command.event));

  for (Unit* unit : spares) {
    unit->bought = context.now;
    unit->reserved = reserve;
  }
  const model::Resources sold = contract.shape.times(units);
  AccountRecord next = *account;
  next.spares -= units;
  next.units += units;
  next.used += sold;
  Purse& purse = purse_in(next, contract.price.currency);
  purse.reserved = checked_add(purse.reserved, checked_multiply(reserve, units));
  workspace.put(account_key(contract.buyer), std::move(next));
  PoolRecord taken = *pool;
  taken.committed += sold;
  put_pool(workspace, std::move(taken), context.now, context.rules.reclaim_after);
  workspace.emit(event_on(contract, EventKind::units_bought, context.now,
                          fmt::format("{} spares of {}", units, contract.offer.text)));
  workspace.put(key_of(contract.id), contract);
  return answer_with(std::move(contract));
}

}  // namespace spillway::market
