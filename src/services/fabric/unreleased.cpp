#include "services/fabric/unreleased.h"

#include <algorithm>

namespace spillway::agent {

void Unreleased::add(const model::Contract& contract, const FabricContract& kept,
                     const fabric::Plan& plan, Units& units) {
  for (const model::Unit& unit : contract.units) {
    const std::string name = unit_name(contract.id, unit.number);
    if (!unit.live || !kept.ending.contains(name)) continue;
    const fabric::UnitProgress gone{name, fabric::UnitStep::gone};
    const bool is_gone = std::find(plan.units.begin(), plan.units.end(), gone) != plan.units.end();
    if (is_gone) units.insert({contract.id, unit.number});
  }
}

void Unreleased::tell(const Units& units, Instant now, fabric::Plan& plan) {
  std::erase_if(since_, [&](const auto& one) { return !units.contains(one.first); });
  for (const Unit& unit : units) {
    const Instant due = since_.try_emplace(unit, now).first->second + k_release_time;
    if (due > now) {
      plan.look_by(due);
      continue;
    }
    plan.troubles.push_back(
        {"unit " + unit_name(unit.contract, unit.number),
         "it has ended here, and is still paid for as its contract says",
         fmt::format("spillway contracts release {} --unit {}", unit.contract.text, unit.number)});
  }
}

}  // namespace spillway::agent
