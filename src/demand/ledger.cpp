#include "demand/ledger.h"

#include <algorithm>

#include "base/text.h"
#include "demand/placeholder.h"
#include "model/validation.h"

namespace spillway::demand {
namespace {

constexpr std::string_view k_ours = "spillway://";
constexpr std::string_view k_our_names = "sw-";

bool is_named_by_us(const NodeRef& node) {
  if (!node.provider_id.empty()) return node.provider_id.starts_with(k_ours);
  return node.name.starts_with(k_ours) || node.name.starts_with(k_our_names);
}

tl::unexpected<Error> no_group(const OfferId& id) {
  return fail(Code::not_found, "group " + in_quotes(id.text), "there is none of this name",
              "ask for the groups again: offers come and go");
}

std::string shown(const NodeRef& node) {
  return "node " + in_quotes(node.provider_id.empty() ? node.name : node.provider_id);
}

bool is_unit(const HeldUnit& unit, const NodeRef& node) {
  const std::string id = unit_provider_id(unit.contract, unit.number);
  if (!node.provider_id.empty()) return node.provider_id == id;
  return node.name == id || node.name == unit_name(unit.contract, unit.number);
}

const Ask* find_ask(const GroupState& group, int64_t generation) {
  const auto at = std::find_if(group.asks.begin(), group.asks.end(),
                               [&](const Ask& ask) { return ask.generation == generation; });
  return at == group.asks.end() ? nullptr : &*at;
}

void enter(HeldUnit& unit, UnitState state, Instant now) {
  unit.state = state;
  unit.since = now;
}

// Of a spare that is being bought, as far as it is still wanted.
void drop_purchase(GroupState& group, const HeldUnit& unit) {
  for (Ask& ask : group.asks) {
    if (ask.contract != unit.contract) continue;
    const auto at = std::find(ask.units.begin(), ask.units.end(), unit.number);
    const auto placeholder = static_cast<int32_t>(at - ask.units.begin());
    if (at != ask.units.end() && ask.wants(placeholder)) ask.drop(placeholder);
  }
}

}  // namespace

bool Ask::wants(int32_t number) const {
  return number >= 0 && number < asked &&
         !std::binary_search(dropped.begin(), dropped.end(), number);
}

void Ask::drop(int32_t number) {
  dropped.insert(std::lower_bound(dropped.begin(), dropped.end(), number), number);
}

std::string_view to_text(UnitState state) {
  switch (state) {
    case UnitState::creating:
      return "creating";
    case UnitState::running:
      return "running";
    case UnitState::failed:
      return "failed";
    case UnitState::deleting:
      return "deleting";
    case UnitState::spare:
      return "spare";
  }
  return "";
}

std::string hold_key(const OfferId& group, const Ask& ask) {
  constexpr size_t k_longest_name = 100;  // the broker takes keys of 128 characters
  return fmt::format("{}#{}", group.text.substr(0, k_longest_name), ask.generation);
}

int32_t GroupState::target() const {
  int32_t sum = 0;
  for (const Ask& ask : asks) sum += ask.is_for_spares ? 0 : ask.wanted();
  for (const HeldUnit& unit : units) {
    sum += unit.state == UnitState::deleting || unit.state == UnitState::spare ? 0 : 1;
  }
  return sum;
}

int32_t GroupState::spares() const {
  int32_t sum = 0;
  for (const Ask& ask : asks) sum += ask.is_for_spares ? ask.asked : 0;
  for (const HeldUnit& unit : units) {
    int32_t placeholder = 0;
    const bool is_kept =
        unit.state == UnitState::spare && purchase_of(unit, placeholder) == nullptr;
    sum += is_kept ? 1 : 0;
  }
  return sum;
}

const Ask* GroupState::purchase_of(const HeldUnit& unit, int32_t& placeholder) const {
  for (const Ask& ask : asks) {
    if (ask.contract != unit.contract) continue;
    const auto at = std::find(ask.units.begin(), ask.units.end(), unit.number);
    if (at == ask.units.end()) continue;
    placeholder = static_cast<int32_t>(at - ask.units.begin());
    return &ask;
  }
  return nullptr;
}

int32_t GroupState::most() const {
  return is_on_sale ? std::min(target() + std::max(free_units, 0), INT32_MAX / 2) : target();
}

Ledger::Ledger(LedgerState state) : state_(std::move(state)) {
  for (const auto& [id, group] : state_.groups) {
    for (const HeldUnit& unit : group.units) {
      places_[unit_provider_id(unit.contract, unit.number)] = id;
      places_[unit_name(unit.contract, unit.number)] = id;
    }
  }
}

void Ledger::show(std::span<const OnSale> offers, Instant now) {
  for (auto& [id, group] : state_.groups) {
    group.is_on_sale = false;
    if (group.rests_until && *group.rests_until <= now) group.rests_until.reset();
  }
  for (const OnSale& on_sale : offers) {
    GroupState& group = state_.groups[on_sale.offer.id];
    group.offer = on_sale.offer;
    group.free_units = group.rests_until ? 0 : on_sale.free_units;
    group.is_on_sale = true;
  }
  forget_unused();
}

void Ledger::forget_unused() {
  std::erase_if(state_.groups, [](const auto& entry) {
    return !entry.second.is_on_sale && !entry.second.is_in_use();
  });
}

const GroupState* Ledger::find(const OfferId& group) const {
  const auto at = state_.groups.find(group);
  return at == state_.groups.end() ? nullptr : &at->second;
}

Result<GroupState*> Ledger::group(const OfferId& id) {
  const auto at = state_.groups.find(id);
  if (at == state_.groups.end()) return no_group(id);
  return &at->second;
}

std::optional<OfferId> Ledger::group_of(const NodeRef& node) const {
  for (const std::string* name : {&node.provider_id, &node.name}) {
    if (name->empty()) continue;
    if (const auto at = places_.find(*name); at != places_.end()) return group_of_unit(*name);
  }
  const auto placeholder = read_placeholder(node);
  if (!placeholder) return std::nullopt;
  for (const auto& [id, group] : state_.groups) {
    const Ask* ask = find_ask(group, placeholder->generation);
    if (ask != nullptr && ask->wants(placeholder->number)) return id;
  }
  return std::nullopt;
}

// A spare is nobody's node until somebody asks for it.
std::optional<OfferId> Ledger::group_of_unit(const std::string& name) const {
  const OfferId& id = places_.find(name)->second;
  const GroupState& group = state_.groups.at(id);
  for (const HeldUnit& unit : group.units) {
    if (!unit.is_spare) continue;
    const bool is_it = unit_provider_id(unit.contract, unit.number) == name ||
                       unit_name(unit.contract, unit.number) == name;
    if (!is_it) continue;
    int32_t placeholder = 0;
    const Ask* ask = group.purchase_of(unit, placeholder);
    if (ask == nullptr || !ask->wants(placeholder)) return std::nullopt;
  }
  return id;
}

std::vector<Instance> Ledger::instances(const OfferId& group) const {
  std::vector<Instance> all;
  const GroupState* state = find(group);
  if (state == nullptr) return all;
  for (const HeldUnit& unit : state->units) {
    if (unit.is_spare) continue;
    all.push_back({unit_provider_id(unit.contract, unit.number), unit.state, unit.failure});
  }
  for (const Ask& ask : state->asks) {
    for (int32_t i = 0; i < ask.asked && !ask.is_for_spares; ++i) {
      if (ask.wants(i)) all.push_back({placeholder_id(ask, i), UnitState::creating, std::nullopt});
    }
  }
  return all;
}

Status Ledger::may_increase(const OfferId& id, int32_t delta) const {
  const GroupState* found = find(id);
  if (found == nullptr) return no_group(id);
  const GroupState& state = *found;
  if (delta < 1) {
    return fail(Code::invalid, "group " + in_quotes(id.text),
                fmt::format("{} units cannot be added", delta), "ask for at least one");
  }
  if (state.rests_until) {
    return fail(Code::taken, "group " + in_quotes(id.text),
                fmt::format("its provider has failed a unit; it rests until {}",
                            to_text(*state.rests_until)),
                "take another group");
  }
  if (delta > state.most() - state.target()) {
    return fail(Code::taken, "group " + in_quotes(id.text),
                fmt::format("{} units wanted, {} can be had", delta, state.most() - state.target()),
                "take fewer, or another group");
  }
  return {};
}

Result<std::vector<Ask>> Ledger::increase(const OfferId& id, int32_t delta, Instant now,
                                          const Use& use) {
  SPILLWAY_TRY(may_increase(id, delta));
  GroupState& state = state_.groups.at(id);
  std::map<ContractId, std::vector<int32_t>> spares;
  int32_t left = delta;
  for (const HeldUnit& unit : state.units) {
    int32_t placeholder = 0;
    const bool is_free =
        unit.state == UnitState::spare && state.purchase_of(unit, placeholder) == nullptr;
    if (!is_free || left == 0) continue;
    spares[unit.contract].push_back(unit.number);
    left -= 1;
  }
  std::vector<Ask> asks;
  for (auto& [contract, units] : spares) {
    std::sort(units.begin(), units.end());
    Ask ask{++state_.generation, static_cast<int32_t>(units.size()), {}, now, use};
    ask.contract = contract;
    ask.units = std::move(units);
    asks.push_back(std::move(ask));
  }
  if (left > 0) asks.push_back({++state_.generation, left, {}, now, use});
  state.asks.insert(state.asks.end(), asks.begin(), asks.end());
  // What the market said is free was so before this: else the maximum would grow with every ask,
  // until the market is asked again.
  state.free_units -= delta;
  return asks;
}

Ask Ledger::keep_spares(const OfferId& id, int32_t count, Instant now, const Use& use) {
  Ask ask{++state_.generation, count, {}, now, use};
  ask.is_for_spares = true;
  state_.groups.at(id).asks.push_back(ask);
  return ask;
}

void Ledger::drop_spares(const OfferId& id, int32_t count, Instant now) {
  auto found = group(id);
  if (!found) return;
  GroupState& state = **found;
  for (auto unit = state.units.rbegin(); unit != state.units.rend() && count > 0; ++unit) {
    int32_t placeholder = 0;
    if (unit->state != UnitState::spare || state.purchase_of(*unit, placeholder) != nullptr) {
      continue;
    }
    enter(*unit, UnitState::deleting, now);
    count -= 1;
  }
}

Status Ledger::remove(const OfferId& id, std::span<const NodeRef> nodes, Instant now) {
  auto found = group(id);
  if (!found) return tl::unexpected(std::move(found).error());
  GroupState& state = **found;
  for (const NodeRef& node : nodes) {
    const auto home = group_of(node);
    if (home ? *home == id : is_named_by_us(node)) continue;
    return fail(Code::invalid, shown(node),
                home ? "it belongs to another group" : "it is not one of ours",
                "name nodes of this group only; none was deleted");
  }
  for (const NodeRef& node : nodes) {
    for (HeldUnit& unit : state.units) {
      if (!is_unit(unit, node) || unit.state == UnitState::deleting) continue;
      if (unit.state != UnitState::spare) {
        enter(unit, UnitState::deleting, now);
      } else {
        drop_purchase(state, unit);
      }
    }
    const auto placeholder = read_placeholder(node);
    if (!placeholder) continue;
    for (Ask& ask : state.asks) {
      const bool is_its = ask.generation == placeholder->generation;
      if (is_its && ask.wants(placeholder->number)) ask.drop(placeholder->number);
    }
  }
  return {};
}

Status Ledger::cancel(const OfferId& id, int32_t delta, Instant now) {
  auto found = group(id);
  if (!found) return tl::unexpected(std::move(found).error());
  if (delta >= 0) {
    return fail(Code::invalid, "group " + in_quotes(id.text),
                fmt::format("{} is no decrease", delta), "give a number below zero");
  }
  std::vector<HeldUnit*> coming;
  for (HeldUnit& unit : (*found)->units) {
    const bool is_coming = unit.state == UnitState::creating || unit.state == UnitState::failed;
    if (is_coming) coming.push_back(&unit);
  }
  int64_t asked = 0;
  for (const Ask& ask : (*found)->asks) asked += ask.is_for_spares ? 0 : ask.wanted();
  const int64_t wanted = -static_cast<int64_t>(delta);
  if (wanted > static_cast<int64_t>(coming.size()) + asked) {
    return fail(Code::conflict, "group " + in_quotes(id.text),
                fmt::format("{} units are to be cancelled, {} are on their way", wanted,
                            static_cast<int64_t>(coming.size()) + asked),
                "name the nodes that are to be deleted");
  }
  // Those of which nothing is known yet first: they cost nobody anything.
  int64_t left = wanted;
  for (auto ask = (*found)->asks.rbegin(); ask != (*found)->asks.rend() && left > 0; ++ask) {
    if (ask->is_for_spares) continue;
    for (int32_t number = ask->asked - 1; number >= 0 && left > 0; --number) {
      if (!ask->wants(number)) continue;
      ask->drop(number);
      left -= 1;
    }
  }
  std::sort(coming.begin(), coming.end(), [](const HeldUnit* a, const HeldUnit* b) {
    return std::tie(a->since, a->contract, a->number) > std::tie(b->since, b->contract, b->number);
  });
  for (int64_t i = 0; i < left; ++i)
    enter(*coming[static_cast<size_t>(i)], UnitState::deleting, now);
  return {};
}

void Ledger::granted(const OfferId& id, int64_t generation, const model::Contract& contract,
                     Instant now) {
  const auto found = group(id);
  if (!found) return;
  GroupState& state = **found;
  const auto ask = std::find_if(state.asks.begin(), state.asks.end(),
                                [&](const Ask& one) { return one.generation == generation; });
  if (ask == state.asks.end()) return;
  if (ask->is_purchase()) return bought(state, ask, now);
  int32_t wanted = ask->wanted();  // fewer than asked for when some were cancelled meanwhile
  const bool is_spare = ask->is_for_spares;
  Use use = ask->use;
  use.rate = contract.rate;
  use.minimum_term = contract.price.minimum_term;
  if (is_spare)
    use = {use.workload_class, use.currency, 0, 0, {}, use.started};  // until it is bought
  state.asks.erase(ask);
  for (const model::Unit& unit : contract.units) {
    if (!unit.live) continue;
    HeldUnit held{contract.id, unit.number, UnitState::creating, std::nullopt, now, use};
    held.is_spare = is_spare;
    if (is_spare) held.state = UnitState::spare;
    if (wanted <= 0 && !is_spare) held.state = UnitState::deleting;
    wanted -= 1;
    places_[unit_provider_id(contract.id, unit.number)] = id;
    places_[unit_name(contract.id, unit.number)] = id;
    state.units.push_back(std::move(held));
  }
}

// Those that were cancelled meanwhile are paid for now, and given back.
void Ledger::bought(GroupState& state, std::vector<Ask>::iterator at, Instant now) {
  const Ask ask = *at;
  state.asks.erase(at);
  for (HeldUnit& unit : state.units) {
    if (unit.contract != ask.contract || unit.state != UnitState::spare) continue;
    const auto place = std::find(ask.units.begin(), ask.units.end(), unit.number);
    if (place == ask.units.end()) continue;
    const bool is_wanted = ask.wants(static_cast<int32_t>(place - ask.units.begin()));
    unit.use = ask.use;
    unit.is_spare = false;
    enter(unit, is_wanted ? UnitState::creating : UnitState::deleting, now);
  }
}

void Ledger::refused_for_good(const OfferId& id, int64_t generation, Instant now) {
  const auto found = group(id);
  if (!found) return;
  const Ask* ask = find_ask(**found, generation);
  if (ask == nullptr) return;
  for (HeldUnit& unit : (*found)->units) {
    const bool is_its =
        unit.contract == ask->contract && unit.state == UnitState::spare &&
        std::find(ask->units.begin(), ask->units.end(), unit.number) != ask->units.end();
    if (is_its) enter(unit, UnitState::deleting, now);
  }
  refused(id, generation);
}

void Ledger::refused(const OfferId& id, int64_t generation) {
  const auto found = group(id);
  if (!found) return;
  std::erase_if((*found)->asks, [&](const Ask& ask) { return ask.generation == generation; });
  forget_unused();
}

HeldUnit* Ledger::find_unit(const ContractId& contract, int32_t number) {
  const auto place = places_.find(unit_provider_id(contract, number));
  if (place == places_.end()) return nullptr;
  for (HeldUnit& unit : state_.groups.at(place->second).units) {
    if (unit.contract == contract && unit.number == number) return &unit;
  }
  return nullptr;
}

void Ledger::running(const ContractId& contract, int32_t number, Instant now) {
  HeldUnit* unit = find_unit(contract, number);
  if (unit != nullptr && unit->state == UnitState::creating) enter(*unit, UnitState::running, now);
}

void Ledger::failed(const ContractId& contract, int32_t number, const Failure& failure,
                    Instant now) {
  HeldUnit* unit = find_unit(contract, number);
  if (unit == nullptr || unit->state == UnitState::deleting) return;
  // Nobody has heard of a spare: there is nobody to tell.
  if (unit->state == UnitState::spare) return enter(*unit, UnitState::deleting, now);
  if (unit->state != UnitState::failed) enter(*unit, UnitState::failed, now);
  unit->failure = failure;
  if (!failure.is_providers) return;
  GroupState& group = state_.groups.at(places_.at(unit_provider_id(contract, number)));
  group.rests_until = now + k_rest;
  group.free_units = 0;
}

void Ledger::gone(const ContractId& contract, int32_t number, Instant now) {
  const auto place = places_.find(unit_provider_id(contract, number));
  if (place == places_.end()) return;
  forget_before(state_.past, now);
  const HeldUnit* unit = find_unit(contract, number);
  if (unit != nullptr && !unit->is_spare) add_ended(state_.past, unit->use, now);
  std::erase_if(state_.groups.at(place->second).units, [&](const HeldUnit& one) {
    return one.contract == contract && one.number == number;
  });
  places_.erase(unit_name(contract, number));
  places_.erase(unit_provider_id(contract, number));
  forget_unused();
}

void Ledger::remember(const ClusterId& provider, const Tried& tried) {
  state_.tried[provider] = tried;
}

Status validate(const LedgerState& state) {
  SPILLWAY_TRY(model::at("cluster", check_cluster_id(state.cluster.text)));
  SPILLWAY_TRY(model::check_range("generation", state.generation, 0, INT64_MAX / 2));
  for (const auto& [id, group] : state.groups) {
    if (group.offer.id != id) {
      return model::refuse("groups", in_quotes(id.text) + " is kept under another's name");
    }
    for (const Ask& ask : group.asks) {
      SPILLWAY_TRY(model::check_range("asks", ask.generation, 1, state.generation));
    }
  }
  return {};
}

}  // namespace spillway::demand
