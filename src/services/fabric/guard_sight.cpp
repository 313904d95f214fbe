#include "services/fabric/guard_sight.h"

#include <utility>

#include "services/fabric/resource.h"

namespace spillway::agent {

namespace liqo = fabric::liqo;

GuardSight::GuardSight(kube::Api& api, std::function<void(model::Enforcement)> changed)
    : changed_(std::move(changed)),
      policies_(api, resource_of(liqo::k_policies), {}, calls_of(liqo::k_policies)),
      bindings_(api, resource_of(liqo::k_policy_bindings), {}, calls_of(liqo::k_policy_bindings)) {}

void GuardSight::start() {
  policies_.start();
  bindings_.start();
}

kube::WatchCalls GuardSight::calls_of(const liqo::Kind& kind) {
  kube::WatchCalls calls;
  calls.on_put = [this, kind](const kube::Object& object) {
    seen_[liqo::guard_key(kind, kube::name_in(object))] = object;
    look();
  };
  calls.on_gone = [this, kind](const kube::Name& name) {
    seen_.erase(liqo::guard_key(kind, name.name));
    look();
  };
  calls.on_synced = [this] { look(); };
  // Below Kubernetes 1.30 there are none. Who may not see them does not know.
  calls.on_trouble = [this](const Error& why) {
    is_missing_ = why.code == Code::not_found;
    look();
  };
  calls.on_open = [this] {
    is_missing_ = false;
    look();
  };
  return calls;
}

void GuardSight::look() {
  const bool is_known = policies_.is_synced() && bindings_.is_synced();
  model::Enforcement now = model::Enforcement::unknown;
  if (is_missing_) now = model::Enforcement::none;
  if (!is_missing_ && is_known) now = enforcement_of(liqo::judge_guard(seen_));
  if (std::exchange(told_, now) != now) changed_(now);
}

}  // namespace spillway::agent
