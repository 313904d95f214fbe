#include "model/contract.h"

#include <algorithm>

#include "base/text.h"
#include "model/identity.h"
#include "model/limits.h"
#include "model/validation.h"

namespace spillway::model {
namespace {

Status check_parties(const Contract& contract) {
  SPILLWAY_TRY(at("id", check_contract_id(contract.id.text)));
  SPILLWAY_TRY(at("buyer", check_cluster_id(contract.buyer.text)));
  SPILLWAY_TRY(at("provider", check_cluster_id(contract.provider.text)));
  SPILLWAY_TRY(at("pool", check_owned_id(contract.pool.text)));
  SPILLWAY_TRY(at("offer", check_owned_id(contract.offer.text)));
  if (owner_of(contract.pool.text) != contract.provider.text) {
    return refuse("pool", in_quotes(contract.pool.text) + " is not the provider's");
  }
  if (owner_of(contract.offer.text) != contract.provider.text) {
    return refuse("offer", in_quotes(contract.offer.text) + " is not the provider's");
  }
  return {};
}

Status check_money(const Contract& contract) {
  SPILLWAY_TRY(under("shape", validate(contract.shape)));
  SPILLWAY_TRY(under("price", validate(contract.price)));
  const auto rate = try_hourly_rate(contract.price, contract.shape);
  if (!rate) return refuse("price", "a unit would cost more than any may");
  if (*rate != contract.rate) {
    return refuse("rate", micros_to_text(contract.rate) + " does not follow from price and shape",
                  "they come to " + micros_to_text(*rate));
  }
  return under("terms", validate(contract.terms));
}

Status check_unit(const Unit& unit, size_t index) {
  if (unit.number != static_cast<int64_t>(index)) {
    return refuse("number", std::to_string(unit.number) + " is not its place in the list",
                  "units are numbered from 0");
  }
  if (unit.live && unit.ended) return refuse("ended", "a live unit has an end");
  if (!unit.live && !unit.ended) return refuse("ended", "a unit that is not live lacks its end");
  if (unit.ended) SPILLWAY_TRY(check_time("ended", *unit.ended));
  if (unit.bought) SPILLWAY_TRY(check_time("bought", *unit.bought));
  if (unit.reserved < 0) return refuse("reserved", "a negative amount");
  if (unit.charged < 0) return refuse("charged", "a negative amount");
  if (unit.live && unit.charged != 0) return refuse("charged", "a live unit was charged already");
  if (unit.charged_for_use < 0 || unit.charged_for_use > unit.charged) {
    return refuse("charged_for_use", "it is no part of what was charged");
  }
  return under("metered", validate(unit.metered));
}

Status check_spare(const Contract& contract, const Unit& unit) {
  if (unit.bought && !(contract.spare && contract.started)) {
    return refuse("bought", "only spares of a contract that is signed are bought one by one");
  }
  if (contract.is_spare(unit) && (unit.reserved != 0 || unit.charged != 0)) {
    return refuse("reserved", "a spare costs nothing");
  }
  return {};
}

Status check_units(const Contract& contract) {
  if (contract.units.empty()) return refuse("units", "a contract without units");
  SPILLWAY_TRY(check_size("units", contract.units.size(), static_cast<size_t>(k_max_units)));
  for (size_t i = 0; i < contract.units.size(); ++i) {
    SPILLWAY_TRY(under("units", i, check_unit(contract.units[i], i)));
    SPILLWAY_TRY(under("units", i, check_spare(contract, contract.units[i])));
  }
  const bool any_live = contract.live_units() > 0;
  if (contract.is_live() && !any_live)
    return refuse("state", "no unit lives, yet it is not closed");
  if (!contract.is_live() && any_live) return refuse("state", "it is closed, yet a unit lives");
  return {};
}

Status check_ladder(const Contract& contract) {
  const bool has_reason = contract.reason != EndReason::none;
  switch (contract.state) {
    case ContractState::hold:
      if (contract.started) return refuse("started", "a hold has not started");
      if (has_reason) return refuse("reason", "a hold has not ended");
      break;
    case ContractState::active:
      if (!contract.started) return refuse("started", "an active contract lacks its start");
      if (has_reason) return refuse("reason", "an active contract has not ended");
      break;
    case ContractState::closing:
      if (!contract.started) return refuse("started", "a closing contract lacks its start");
      break;
    case ContractState::closed:
      if (!has_reason) return refuse("reason", "a closed contract lacks its reason");
      break;
  }
  if (contract.started && contract.reason == EndReason::expired) {
    return refuse("reason", "only a hold expires, and this one was confirmed");
  }
  if (!contract.started && contract.reason == EndReason::lapsed) {
    return refuse("reason", "only a lease lapses, and none was signed");
  }
  return {};
}

}  // namespace

int32_t Contract::live_units() const {
  return static_cast<int32_t>(
      std::count_if(units.begin(), units.end(), [](const Unit& unit) { return unit.live; }));
}

int32_t Contract::bought_units() const {
  return static_cast<int32_t>(std::count_if(
      units.begin(), units.end(), [this](const Unit& u) { return u.live && !is_spare(u); }));
}

Resources Contract::taken() const { return shape.times(bought_units()); }

std::optional<Instant> Contract::paid_from(const Unit& unit) const {
  return spare ? unit.bought : started;
}

std::string_view to_text(ContractState state) {
  switch (state) {
    case ContractState::hold:
      return "hold";
    case ContractState::active:
      return "active";
    case ContractState::closing:
      return "closing";
    case ContractState::closed:
      return "closed";
  }
  return "unknown";
}

std::string_view to_text(EndReason reason) {
  switch (reason) {
    case EndReason::none:
      return "none";
    case EndReason::expired:
      return "expired";
    case EndReason::released:
      return "released";
    case EndReason::lapsed:
      return "lapsed";
    case EndReason::noticed:
      return "noticed";
    case EndReason::reclaimed:
      return "reclaimed";
  }
  return "unknown";
}

// That times follow each other is no invariant: a clock that was set back must not quarantine a
// row.
Status validate(const Contract& contract) {
  SPILLWAY_TRY(check_parties(contract));
  SPILLWAY_TRY(check_money(contract));
  SPILLWAY_TRY(check_units(contract));
  SPILLWAY_TRY(check_ladder(contract));
  SPILLWAY_TRY(check_time("created", contract.created));
  if (contract.started) SPILLWAY_TRY(check_time("started", *contract.started));
  SPILLWAY_TRY(check_time("deadline", contract.deadline));
  SPILLWAY_TRY(check_range("grace_used", contract.grace_used, Duration{0}, k_longest_wait));
  if (contract.ending_notice) {
    if (contract.state != ContractState::active) {
      return refuse("ending_notice", "only a lease is said to end");
    }
    SPILLWAY_TRY(check_time("ending_notice", *contract.ending_notice));
  }
  if (!contract.agreement.empty()) {
    SPILLWAY_TRY(check_key_fingerprint("agreement", contract.agreement));
  }
  return check_range("outage_mark", contract.outage_mark, Duration{0}, Duration{k_last_instant.ms});
}

}  // namespace spillway::model
