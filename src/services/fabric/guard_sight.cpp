#include "services/fabric/guard_sight.h"

#include <utility>

#include <fmt/format.h>

#include "services/fabric/resource.h"

namespace spillway::agent {

namespace liqo = fabric::liqo;

namespace {

kube::Wanted our_webhooks() {
  return {.fields = fmt::format("metadata.name={}", liqo::k_webhook_name)};
}

}  // namespace

GuardSight::Watched::Watched(GuardSight& sight, kube::Api& api, const liqo::Kind& kind,
                             const kube::Wanted& wanted)
    : watch(api, resource_of(kind), wanted, sight.calls_of(*this, kind)) {}

GuardSight::GuardSight(kube::Api& api, std::function<void(model::Enforcement)> changed)
    : changed_(std::move(changed)),
      policies_(*this, api, liqo::k_policies),
      bindings_(*this, api, liqo::k_policy_bindings),
      webhooks_(*this, api, liqo::k_webhooks, our_webhooks()),
      early_webhooks_(*this, api, liqo::k_early_webhooks, our_webhooks()) {}

void GuardSight::start() {
  for (Watched* one : {&policies_, &bindings_, &webhooks_, &early_webhooks_}) one->watch.start();
}

kube::WatchCalls GuardSight::calls_of(Watched& watched, const liqo::Kind& kind) {
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
  // Below Kubernetes 1.30 there are no policies. Who may not see them does not know.
  calls.on_trouble = [this, &watched](const Error& why) {
    watched.is_missing = why.code == Code::not_found;
    look();
  };
  calls.on_open = [this, &watched] {
    watched.is_missing = false;
    look();
  };
  return calls;
}

// What is seen to be enforced is, whatever else cannot be seen.
model::Enforcement GuardSight::judged() const {
  const model::Enforcement seen = enforcement_of(liqo::judge_guard(seen_));
  const bool has_policies = policies_.is_known() && bindings_.is_known();
  const bool has_webhooks = webhooks_.is_known() && early_webhooks_.is_known();
  if (seen == model::Enforcement::full && (has_policies || has_webhooks)) return seen;
  return has_policies && has_webhooks ? seen : model::Enforcement::unknown;
}

void GuardSight::look() {
  const model::Enforcement now = judged();
  if (std::exchange(told_, now) != now) changed_(now);
}

}  // namespace spillway::agent
