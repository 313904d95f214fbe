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
  const auto find = [&seen](const Kind& kind) {
    const auto found = seen.find(guard_key(kind, k_webhook_name));
    return found == seen.end() ? nullptr : &found->second;
  };
  standing.has_webhook = find(k_webhooks) != nullptr;
  standing.webhook = judge_webhooks(find(k_webhooks), find(k_early_webhooks));
  return standing;
}

bool is_tried_liqo(std::string_view version) { return version == "v1.2.0" || version == "v1.1.2"; }

model::Enforcement enforcement_of(const GuardStanding& standing) {
  if (standing.is_by_policies() || standing.is_by_webhook()) return model::Enforcement::full;
  const bool has_any = standing.in_force > 0 || standing.webhook.in_force > 0;
  return has_any ? model::Enforcement::partial : model::Enforcement::none;
}

}  // namespace spillway::fabric::liqo
