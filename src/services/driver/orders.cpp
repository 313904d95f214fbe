#include "services/driver/orders.h"

#include <algorithm>

#include "base/text.h"
#include "services/driver/state_size.h"

namespace spillway::driver {
namespace {

constexpr std::string_view k_in_use = "in use";  // all that is said of what may not be seen

Error used_up(const std::string& unit) {
  return {Code::conflict, "unit " + unit, "it has ended, and names are never used again",
          "order one of another name"};
}

Error otherwise(const std::string& unit, std::string_view field) {
  return {Code::conflict, std::string(field),
          fmt::format("unit {} was ordered with another one", unit),
          "order it as it was, or one of another name"};
}

// All units of one contract lie together: names are in order.
auto first_of(const DriverState& state, const ContractId& contract) {
  return state.units.lower_bound("sw-" + contract.text + "-");
}

bool is_of(const std::string& unit, const ContractId& contract) {
  return unit.starts_with("sw-" + contract.text + "-");
}

// The first of its contract that is not gone: those are alike, and what has gone tells nothing of
// them. One that ends is among them, for its provider may have some of it still.
auto living_of(const DriverState& state, const ContractId& contract) {
  const auto end = state.units.end();
  for (auto at = first_of(state, contract); at != end && is_of(at->first, contract); ++at) {
    if (!at->second.is_gone()) return at;
  }
  return end;
}

// A moment after its last unit, in which its Fabrics still have the offer of that.
bool is_remembered(const DriverState& state, const ContractId& contract, const UnitOrder& order) {
  const auto remembers = [&](const std::string& cluster) {
    const auto fabric = state.fabrics.find(cluster);
    return fabric != state.fabrics.end() && fabric->second.contracts.contains(contract);
  };
  return remembers(order.consumer) || remembers(order.provider);
}

Error taken(std::string_view by) {
  return {Code::conflict, "unit", fmt::format("that contract's id is {}", by),
          "order it under another contract's id"};
}

// A peering that is kept is a contract, too.
Status check_peerings(const DriverState& state, const ContractId& contract, const MaySee& may_see) {
  for (const auto& [peering, kept] : state.peerings) {
    if (kept.contract != contract) continue;
    const std::string consumer(owner_of(peering));
    const bool is_shown = may_see(consumer, peering.substr(consumer.size() + 1));
    return tl::unexpected(taken(is_shown ? "that of peering " + peering : std::string(k_in_use)));
  }
  return {};
}

Status check_likeness(const DriverState& state, const UnitName& name, const UnitOrder& order,
                      const MaySee& may_see) {
  SPILLWAY_TRY(check_peerings(state, name.contract, may_see));
  if (const auto other = living_of(state, name.contract); other != state.units.end()) {
    const UnitOrder& known = other->second.order;
    const std::string_view field = unlikeness(known, order);
    if (field.empty()) return {};
    if (!may_see(known.consumer, known.provider)) return tl::unexpected(taken(k_in_use));
    return fail(Code::conflict, std::string(field),
                fmt::format("unit {} of the same contract has another one", other->first),
                "order it under another contract's id");
  }
  if (!is_remembered(state, name.contract, order)) return {};
  return fail(Code::unavailable, "contract " + name.contract.text,
              "its last unit has only just gone, and is not forgotten yet",
              "order it again in a moment, or under another contract's id");
}

model::Contract bare_contract(const ContractId& id, const std::string& consumer,
                              const std::string& provider) {
  model::Contract contract;
  contract.id = id;
  contract.buyer = ClusterId(consumer);
  contract.provider = ClusterId(provider);
  contract.pool = PoolId(provider + "/driver");
  contract.offer = OfferId(provider + "/driver");
  contract.state = model::ContractState::active;
  contract.spare = true;
  contract.deadline = k_last_instant;
  return contract;
}

// Kubernetes and its autoscalers know a node by it.
Status check_provider_id(const DriverState& state, const std::string& unit, const UnitOrder& order,
                         const MaySee& may_see) {
  const std::string wanted = provider_id_of(unit, order);
  for (const auto& [other, record] : state.units) {
    if (record.is_gone() || record.order.consumer != order.consumer) continue;
    if (provider_id_of(other, record.order) != wanted) continue;
    const bool is_shown = may_see(record.order.consumer, record.order.provider);
    return fail(Code::conflict, "provider_id",
                is_shown ? fmt::format("{} has {} already", other, in_quotes(wanted))
                         : fmt::format("{} is {}", in_quotes(wanted), k_in_use),
                "choose another, or leave it out");
  }
  return {};
}

}  // namespace

Error ended(const std::string& unit) {
  return {Code::gone, "unit " + unit, "it has ended, and nothing is left of it",
          "there is nothing to end; order one of another name if you need it"};
}

Result<bool> place(DriverState& state, const std::string& unit, const UnitOrder& order, Instant now,
                   const MaySee& may_see) {
  const auto name = parse_unit(unit);
  if (!name) return tl::unexpected(name.error());
  if (state.over.contains(unit)) return tl::unexpected(used_up(unit));
  const auto found = state.units.find(unit);
  if (found == state.units.end()) {
    SPILLWAY_TRY(check_annotation_bytes(order));
    SPILLWAY_TRY(check_likeness(state, *name, order, may_see));
    SPILLWAY_TRY(check_provider_id(state, unit, order, may_see));
    const size_t bytes = bytes_of(order);
    SPILLWAY_TRY(check_room(state, bytes));
    state.units.emplace(unit, UnitRecord{.order = order, .ordered = now, .bytes = bytes});
    return true;
  }
  UnitRecord& known = found->second;
  if (known.is_gone()) return tl::unexpected(used_up(unit));
  if (const std::string_view field = difference(known.order, order); !field.empty()) {
    return tl::unexpected(otherwise(unit, field));
  }
  if (known.ending) {
    return fail(Code::conflict, "unit " + unit, "it is ending, and that cannot be taken back",
                "order one of another name");
  }
  const bool is_bought = known.order.spare && !order.spare;
  known.order.spare = order.spare;
  if (is_bought) known.bytes = bytes_of(known.order);
  return is_bought;
}

Result<bool> end(DriverState& state, const std::string& unit, Instant now) {
  if (state.over.contains(unit)) return false;
  const auto found = state.units.find(unit);
  if (found == state.units.end()) {
    return fail(Code::not_found, "unit " + unit, "it was never ordered here",
                "look at what there is with a list");
  }
  if (found->second.ending) return false;
  found->second.ending = now;
  return true;
}

Result<bool> keep(DriverState& state, const std::string& peering, const PeeringOrder& order,
                  const ContractId& contract, Instant now) {
  if (order.until && *order.until <= now) {
    return fail(Code::invalid, "until", fmt::format("{} is over", to_text(*order.until)),
                "name a time to come, or leave it out");
  }
  state.closing.erase(peering);
  const auto [at, is_new] = state.peerings.try_emplace(peering, PeeringRecord{contract, order});
  if (is_new) return true;
  const bool is_changed = at->second.order != order;
  at->second.order = order;
  return is_changed;
}

Result<bool> close(DriverState& state, const std::string& peering, Instant now) {
  const std::vector<std::string> units = units_of(state, peering);
  if (!units.empty()) {
    return fail(Code::conflict, "peering " + peering,
                fmt::format("{} unit{} there: {}", units.size(),
                            units.size() == 1 ? " lives" : "s live", name_few(units)),
                "end them first");
  }
  const bool was_kept = state.peerings.erase(peering) > 0;
  return state.closing.emplace(peering, now).second || was_kept;
}

std::vector<std::string> units_of(const DriverState& state, const std::string& peering) {
  return std::move(units_by_peering(state)[peering]);
}

std::map<std::string, std::vector<std::string>> units_by_peering(const DriverState& state) {
  std::map<std::string, std::vector<std::string>> units;
  for (const auto& [name, unit] : state.units) {
    if (unit.is_gone()) continue;
    units[peering_name(unit.order.consumer, unit.order.provider)].push_back(name);
  }
  return units;
}

std::map<ContractId, model::Contract> contracts_of(const DriverState& state) {
  std::map<ContractId, model::Contract> contracts;
  for (const auto& [name, unit] : state.units) {
    if (unit.ended || unit.is_gone()) continue;
    const UnitName parsed = parse_unit(name).value();  // it is valid
    const auto [at, is_new] = contracts.try_emplace(parsed.contract);
    model::Contract& contract = at->second;
    if (is_new) {
      contract = bare_contract(parsed.contract, unit.order.consumer, unit.order.provider);
      contract.shape = unit.order.resources;
      contract.terms.fence = unit.order.fence;
      contract.created = unit.ordered;
      contract.started = unit.ordered;
    }
    model::Unit& row = contract.units.emplace_back();
    row.number = parsed.number;
    if (!unit.order.spare) row.bought = unit.ordered;
  }
  for (auto& [id, contract] : contracts) {
    std::sort(contract.units.begin(), contract.units.end(),
              [](const model::Unit& a, const model::Unit& b) { return a.number < b.number; });
  }
  for (const auto& [peering, kept] : state.peerings) {
    const std::string consumer(owner_of(peering));
    model::Contract bare =
        bare_contract(kept.contract, consumer, peering.substr(consumer.size() + 1));
    bare.shape.pods = 1;  // of units that it has none of: an offer of nothing is no offer
    contracts.try_emplace(kept.contract, std::move(bare));
  }
  return contracts;
}

std::map<ContractId, std::vector<int32_t>> purchases_of(const DriverState& state) {
  std::map<ContractId, std::vector<int32_t>> purchases;
  for (const auto& [id, contract] : contracts_of(state)) {
    std::vector<int32_t>& units = purchases[id];
    for (const model::Unit& unit : contract.units) {
      if (unit.bought) units.push_back(unit.number);
    }
  }
  return purchases;
}

const UnitOrder* order_of(const DriverState& state, const ContractId& contract) {
  const auto at = living_of(state, contract);
  return at == state.units.end() ? nullptr : &at->second.order;
}

model::Offer offer_of(const model::Contract& contract, const UnitOrder* order) {
  model::Offer offer;
  offer.id = contract.offer;
  offer.pool = contract.pool;
  offer.price = contract.price;
  offer.shape = contract.shape;
  offer.terms = contract.terms;
  if (order == nullptr) return offer;
  offer.labels = order->labels;
  offer.taints = order->taints;
  return offer;
}

}  // namespace spillway::driver
