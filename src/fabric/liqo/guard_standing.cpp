#include "fabric/liqo/guard_standing.h"

#include <set>

#include <fmt/format.h>

#include "model/tree.h"

namespace spillway::fabric::liqo {
namespace {

// Items of a list do not say what kind they are of.
bool is_as_written(const model::Node& seen, model::Node wanted) {
  model::erase(wanted, "apiVersion");
  model::erase(wanted, "kind");
  return has_all_of(seen, wanted);
}

}  // namespace

std::string guard_key(const Kind& kind, std::string_view name) {
  return fmt::format("{} {}", kind.kind, name);
}

GuardStanding judge_guard(const GuardSeen& seen) {
  GuardStanding standing;
  std::set<std::string> names;   // a policy and its binding have the same
  std::set<std::string> faulty;  //
  for (const GuardObject& one : guard_objects()) {
    const std::string key = guard_key(one.kind, one.name);
    const auto found = seen.find(key);
    names.insert(one.name);
    if (found != seen.end() && is_as_written(found->second, one.object)) continue;
    faulty.insert(one.name);
    (found == seen.end() ? standing.missing : standing.changed).push_back(key);
  }
  standing.policies = names.size();
  standing.in_force = names.size() - faulty.size();
  return standing;
}

bool is_tried_liqo(std::string_view version) { return version == "v1.2.0"; }

model::Enforcement enforcement_of(const GuardStanding& standing) {
  if (standing.in_force == standing.policies) return model::Enforcement::full;
  return standing.in_force == 0 ? model::Enforcement::none : model::Enforcement::partial;
}

}  // namespace spillway::fabric::liqo
