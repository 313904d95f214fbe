#include "services/autoscaler/units.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/ids.h"
#include "market/mutants.h"

namespace spillway::autoscaler {

using demand::HeldUnit;
using demand::UnitState;

namespace {

// What unit_name() has made of it; none: something else.
std::optional<std::pair<ContractId, int32_t>> unit_called(const std::string& name) {
  constexpr std::string_view k_prefix = "sw-";
  const size_t dash = name.rfind('-');
  if (!name.starts_with(k_prefix) || dash <= k_prefix.size()) return std::nullopt;
  const ContractId contract(name.substr(k_prefix.size(), dash - k_prefix.size()));
  int32_t number = 0;
  const auto [end, error] =
      std::from_chars(name.data() + dash + 1, name.data() + name.size(), number);
  const bool is_it = error == std::errc() && end == name.data() + name.size() &&
                     unit_name(contract, number) == name && check_contract_id(contract.text);
  return is_it ? std::optional(std::pair(contract, number)) : std::nullopt;
}

}  // namespace

Instant Units::step() {
  Instant next = agent::k_never;
  look_for_dead(next);
  // Copies: what is tended may leave the ledger at once.
  std::vector<std::pair<model::Offer, std::vector<HeldUnit>>> all;
  for (const auto& [id, group] : keeper_.ledger().state().groups) {
    if (!group.units.empty()) all.emplace_back(group.offer, group.units);
  }
  for (const auto& [offer, units] : all) {
    for (const HeldUnit& unit : units) tend(offer, unit, next);
  }
  collect_strays(next);
  return next;
}

// Running ones whose node is not Ready; nobody, when that is the cluster's own trouble; none:
// nothing is known of anybody.
std::optional<std::vector<Units::Suspect>> Units::suspects() const {
  std::vector<Suspect> found;
  std::set<std::string_view> providers;
  bool is_any_ready = false;
  for (const auto& [id, group] : keeper_.ledger().state().groups) {
    for (const HeldUnit& unit : group.units) {
      if (unit.state != UnitState::running) continue;
      const NodeSight sight = maker_.look(unit_name(unit.contract, unit.number));
      if (sight == NodeSight::unknown) return std::nullopt;
      providers.insert(owner_of(id.text));
      is_any_ready = is_any_ready || sight == NodeSight::ready;
      if (sight == NodeSight::coming) found.push_back({unit, id});
    }
  }
  if (providers.size() > 1 && !is_any_ready) found.clear();
  return found;
}

void Units::look_for_dead(Instant& next) {
  const auto found = suspects();
  if (!found) return unready_since_.clear();  // what nobody has seen does not count
  const Instant now = context_.now();
  std::map<Key, Instant> since;
  for (const Suspect& one : *found) {
    const Key key{one.unit.contract, one.unit.number};
    const auto known = unready_since_.find(key);
    since[key] = known == unready_since_.end() ? now : known->second;
    const Instant due = since[key] + unready_after_;
    if (due > now) {
      next = std::min(next, due);
    } else {
      fail_dead(one);
    }
  }
  unready_since_ = std::move(since);
}

void Units::fail_dead(const Suspect& suspect) {
  const auto& [unit, group] = suspect;
  const std::string why = fmt::format("node {} of provider {} was not Ready for {}",
                                      unit_name(unit.contract, unit.number), owner_of(group.text),
                                      to_text(unready_after_));
  calls_.lose(group, unit, {k_node_dead, why, false, true});
}

// What is to be done for a unit; none: it is as it should be, or nothing can be known yet.
std::optional<Units::Aim> Units::aim_of(const OfferId& group, const HeldUnit& unit,
                                        const Work* work) {
  if (unit.state == UnitState::deleting) {
    return work != nullptr && work->is_node_gone ? Aim::release : Aim::remove;
  }
  if (unit.state == UnitState::spare) return std::nullopt;  // its provider sees to it
  const NodeSight sight = maker_.look(unit_name(unit.contract, unit.number));
  if (sight == NodeSight::unknown) return std::nullopt;
  if (unit.state == UnitState::failed) {
    const bool is_dead = unit.failure && unit.failure->code == k_node_dead;
    const bool is_left_over =
        sight != NodeSight::absent && (is_dead || calls_.is_over(unit.contract));
    return is_left_over ? std::optional(Aim::remove) : std::nullopt;
  }
  if (sight == NodeSight::absent) return Aim::make;
  if (sight == NodeSight::ready && unit.state == UnitState::creating) {
    keeper_.ledger().running(unit.contract, unit.number, context_.now());
    calls_.ran(group);
    keeper_.touch();
  }
  return std::nullopt;
}

void Units::tend(const model::Offer& offer, const HeldUnit& unit, Instant& next) {
  const Key key{unit.contract, unit.number};
  maker_.claim(unit_name(unit.contract, unit.number));
  const auto known = works_.find(key);
  if (known != works_.end() && known->second.attempt.in_flight) return;
  const auto aim = aim_of(offer.id, unit, known == works_.end() ? nullptr : &known->second);
  if (!aim) return;
  Work& work = works_[key];
  if (work.aim != *aim) {
    work.aim = *aim;
    work.attempt = {};
  }
  if (may_begin(work.attempt, next)) begin(key, work, offer);
}

bool Units::may_begin(agent::Attempt& attempt, Instant& next) {
  if (attempt.in_flight) return false;
  if (!attempt.is_due(context_.now(), host::k_refused_wait)) {
    next = std::min(next, attempt.due);
    return false;
  }
  if (in_flight_ >= k_most_at_once) return false;  // whoever is done wakes us
  attempt.in_flight = true;
  in_flight_ += 1;
  return true;
}

void Units::begin(const Key& key, Work& work, const model::Offer& offer) {
  const std::string name = unit_name(key.first, key.second);
  switch (work.aim) {
    case Aim::make:
      return maker_.make(demand::node_image(offer, name, unit_provider_id(key.first, key.second)),
                         life_.guard([this, key](const Status& status) { on_made(key, status); }));
    case Aim::remove:
      return maker_.remove(
          name, life_.guard([this, key](const Status& status) { on_removed(key, status); }));
    case Aim::release:
      return agent::release(context_.client, signing_to_release(context_, key.first), key.first,
                            {key.second},
                            life_.guard([this, key](const Result<wire::ContractAnswer>& answer) {
                              on_released(key, answer);
                            }));
  }
}

Units::Work* Units::done(const Key& key) {
  in_flight_ -= 1;
  context_.wake_by(context_.now());
  Work& work = works_[key];
  work.attempt.in_flight = false;
  return &work;
}

void Units::try_again(agent::Attempt& attempt, std::string_view what, const Error& error) {
  attempt.fail(context_, what, error);
  context_.wake_by(attempt.due);
}

void Units::on_made(const Key& key, const Status& status) {
  Work* work = done(key);
  if (status) {
    work->attempt.succeed();
    work->attempt.due = context_.now() + k_until_seen;
    return;
  }
  if (describe(status.error().code).not_now) {
    return try_again(work->attempt, "node not made", status.error());
  }
  context_.log.write(
      services::Level::warning, "node refused",
      {{"node", unit_name(key.first, key.second)}, {"why", status.error().message()}});
  keeper_.ledger().failed(key.first, key.second, {"node-refused", status.error().message(), false},
                          context_.now());
  keeper_.touch();
}

void Units::on_removed(const Key& key, const Status& status) {
  Work* work = done(key);
  if (!status) return try_again(work->attempt, "node not removed", status.error());
  work->attempt.succeed();
  work->attempt.due = context_.now() + k_until_seen;  // of one that has failed: it is still seen
  work->is_node_gone = true;
  if (market::mutant(market::Mutant::keep_unreleased)) {
    keeper_.ledger().gone(key.first, key.second, context_.now());
  }
}

void Units::on_released(const Key& key, const Result<wire::ContractAnswer>& answer) {
  Work* work = done(key);
  const bool is_over =
      !answer && (answer.error().code == Code::not_found || answer.error().code == Code::gone);
  if (!answer && !is_over) return try_again(work->attempt, "unit not released", answer.error());
  works_.erase(key);
  keeper_.ledger().gone(key.first, key.second, context_.now());
  keeper_.touch();
  if (answer) calls_.released(answer->contract);
  context_.log.write(services::Level::info, "unit released",
                     {{"unit", unit_name(key.first, key.second)}});
}

void Units::collect_strays(Instant& next) {
  std::map<std::string, Stray> strays;
  for (const std::string& name : maker_.names()) {
    if (!keeper_.ledger().knows(name)) strays[name] = strays_[name];
  }
  for (const auto& [name, stray] : strays_) {
    if (stray.is_node_gone && !keeper_.ledger().knows(name)) strays.try_emplace(name, stray);
  }
  strays_ = std::move(strays);
  for (auto& [name, stray] : strays_) {
    const auto key = unit_called(name);
    if (!may_begin(stray.attempt, next)) continue;
    stray.is_node_gone&& key ? release_stray(name, *key) : remove_stray(name);
  }
}

void Units::remove_stray(const std::string& name) {
  maker_.remove(name, life_.guard([this, name](const Status& status) {
    in_flight_ -= 1;
    context_.wake_by(context_.now());
    const auto at = strays_.find(name);
    if (at == strays_.end()) return;
    at->second.attempt.in_flight = false;
    if (!status) return try_again(at->second.attempt, "node not removed", status.error());
    context_.log.write(services::Level::warning, "node removed, of no unit that is known here",
                       {{"node", name}});
    at->second.is_node_gone = unit_called(name).has_value();
    if (!at->second.is_node_gone) at->second.attempt.due = context_.now() + k_until_seen;
  }));
}

void Units::release_stray(const std::string& name, const Key& key) {
  agent::release(context_.client, signing_to_release(context_, key.first), key.first, {key.second},
                 life_.guard([this, name](const Result<wire::ContractAnswer>& answer) {
                   in_flight_ -= 1;
                   context_.wake_by(context_.now());
                   const auto at = strays_.find(name);
                   if (at == strays_.end()) return;
                   at->second.attempt.in_flight = false;
                   const bool is_over = !answer && (answer.error().code == Code::not_found ||
                                                    answer.error().code == Code::gone);
                   if (!answer && !is_over) {
                     return try_again(at->second.attempt, "unit not released", answer.error());
                   }
                   at->second = {};  // it goes when its node is no longer seen
                   at->second.attempt.due = context_.now() + k_until_seen;
                 }));
}

}  // namespace spillway::autoscaler
