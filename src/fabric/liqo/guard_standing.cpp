#include "fabric/liqo/guard_standing.h"

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
  for (const GuardObject& one : guard_objects()) {
    const std::string key = guard_key(one.kind, one.name);
    const auto found = seen.find(key);
    if (one.kind.plural == k_policies.plural) ++standing.policies;
    if (found == seen.end()) {
      standing.missing.push_back(key);
    } else if (!is_as_written(found->second, one.object)) {
      standing.changed.push_back(key);
    }
  }
  return standing;
}

bool is_tried_liqo(std::string_view version) { return version == "v1.2.0"; }

model::Enforcement enforcement_of(const GuardStanding& standing) {
  if (standing.missing.empty() && standing.changed.empty()) return model::Enforcement::full;
  const size_t all = 2 * standing.policies;
  return standing.missing.size() == all ? model::Enforcement::none : model::Enforcement::partial;
}

}  // namespace spillway::fabric::liqo
