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
  }
  return "";
}

std::string hold_key(const OfferId& group, const Ask& ask) {
  constexpr size_t k_longest_name = 100;  // the broker takes keys of 128 characters
  return fmt::format("{}#{}", group.text.substr(0, k_longest_name), ask.generation);
}

int32_t GroupState::target() const {
  int32_t sum = 0;
  for (const Ask& ask : asks) sum += ask.wanted();
  for (const HeldUnit& unit : units) sum += unit.state == UnitState::deleting ? 0 : 1;
  return sum;
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
    if (const auto at = places_.find(*name); at != places_.end()) return at->second;
  }
  const auto placeholder = read_placeholder(node);
  if (!placeholder) return std::nullopt;
  for (const auto& [id, group] : state_.groups) {
    const Ask* ask = find_ask(group, placeholder->generation);
    if (ask != nullptr && ask->wants(placeholder->number)) return id;
  }
  return std::nullopt;
}

std::vector<Instance> Ledger::instances(const OfferId& group) const {
  std::vector<Instance> all;
  const GroupState* state = find(group);
  if (state == nullptr) return all;
  for (const HeldUnit& unit : state->units) {
    all.push_back({unit_provider_id(unit.contract, unit.number), unit.state, unit.failure});
  }
  for (const Ask& ask : state->asks) {
    for (int32_t i = 0; i < ask.asked; ++i) {
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

Result<Ask> Ledger::increase(const OfferId& id, int32_t delta, Instant now, const Use& use) {
  SPILLWAY_TRY(may_increase(id, delta));
  GroupState& state = state_.groups.at(id);
  const Ask ask{++state_.generation, delta, {}, now, use};
  state.asks.push_back(ask);
  // What the market said is free was so before this: else the maximum would grow with every ask,
  // until the market is asked again.
  state.free_units -= delta;
  return ask;
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
      const bool is_it = is_unit(unit, node) && unit.state != UnitState::deleting;
      if (is_it) enter(unit, UnitState::deleting, now);
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
  for (const Ask& ask : (*found)->asks) asked += ask.wanted();
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
  int32_t wanted = ask->wanted();  // fewer than asked for when some were cancelled meanwhile
  Use use = ask->use;
  use.rate = contract.rate;
  use.minimum_term = contract.price.minimum_term;
  state.asks.erase(ask);
  for (const model::Unit& unit : contract.units) {
    if (!unit.live) continue;
    HeldUnit held{contract.id, unit.number, UnitState::creating, std::nullopt, now, use};
    if (wanted <= 0) held.state = UnitState::deleting;
    wanted -= 1;
    places_[unit_provider_id(contract.id, unit.number)] = id;
    places_[unit_name(contract.id, unit.number)] = id;
    state.units.push_back(std::move(held));
  }
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
  if (const HeldUnit* unit = find_unit(contract, number)) add_ended(state_.past, unit->use, now);
  std::erase_if(state_.groups.at(place->second).units, [&](const HeldUnit& unit) {
    return unit.contract == contract && unit.number == number;
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
