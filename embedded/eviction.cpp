// See EvictionREST of kube-apiserver, whose order of questions this keeps.
#include "embedded/eviction.h"

#include <optional>

#include <fmt/format.h>

#include "embedded/document.h"
#include "embedded/selector.h"

namespace spillway::embedded {
namespace {

using model::Node;
using model::put;

constexpr std::string_view k_violates =
    "Cannot evict pod as it would violate the pod's disruption budget.";

bool needs_no_budget(const Node& pod) {
  const std::string_view phase = model::text_at(pod, {"status", "phase"});
  return phase != "Running" || is_being_deleted(pod);
}

std::vector<ObjectPtr> budgets_of(const Objects& objects, const Object& pod) {
  const Kind& kind = objects.registry.built_in("poddisruptionbudgets", "policy");
  std::vector<ObjectPtr> found;
  for (const auto& [key, budget] : objects.table.shelf(kind)) {
    if (key.space != pod.key.space) continue;
    const auto selector = read_selector(model::look(budget->document(), {"spec", "selector"}));
    if (selector && selector->matches(pod.labels)) found.push_back(budget);
  }
  return found;
}

Refused refuse(std::string cause, int retry_after_seconds) {
  Refused refused = too_many_requests(k_violates, retry_after_seconds);
  refused.value().causes = {{"DisruptionBudget", std::move(cause), ""}};
  return refused;
}

// A pod that is not ready may go when enough others are, and costs the budget nothing.
bool is_spare(const Node& pod, const Node& budget) {
  if (has_condition(pod, "Ready", "True")) return false;
  if (model::text_at(budget, {"spec", "unhealthyPodEvictionPolicy"}) == "AlwaysAllow") return true;
  const int64_t desired = model::integer_at(budget, {"status", "desiredHealthy"});
  return desired > 0 && model::integer_at(budget, {"status", "currentHealthy"}) >= desired;
}

Done spend(Objects& objects, const Object& budget, const Key& pod, bool is_dry_run) {
  const Node document = budget.document();
  const std::string& name = budget.key.name;
  if (model::integer_at(document, {"status", "observedGeneration"}) <
      model::integer_at(document, {"metadata", "generation"})) {
    return refuse(
        fmt::format("The disruption budget {} is still being processed by the server.", name), 10);
  }
  const int64_t allowed = model::integer_at(document, {"status", "disruptionsAllowed"});
  if (allowed == 0) {
    return refuse(fmt::format("The disruption budget {} needs {} healthy pods and has {} currently",
                              name, model::integer_at(document, {"status", "desiredHealthy"}),
                              model::integer_at(document, {"status", "currentHealthy"})),
                  0);
  }
  if (is_dry_run) return {};
  objects.change(*budget.kind, budget.key, [&](Node& changed) {
    Node& status = model::ensure(changed, {"status"});
    put(status, "disruptionsAllowed", model::integer_node(allowed - 1));
    put(model::ensure(status, {"disruptedPods"}), pod.name,
        model::text_node(stamp(objects.clock.now())));
  });
  return {};
}

Done check_budget(Objects& objects, const Object& pod, const Node& document, bool is_dry_run) {
  const auto budgets = budgets_of(objects, pod);
  if (budgets.empty()) return {};
  if (budgets.size() > 1) {
    Refusal refusal{500, "",
                    "This pod has more than one PodDisruptionBudget, which the eviction "
                    "subresource does not support."};
    return Refused(std::move(refusal));
  }
  if (is_spare(document, budgets.front()->document())) return {};
  return spend(objects, *budgets.front(), pod.key, is_dry_run);
}

}  // namespace

Done evict_pod(Objects& objects, const Key& key, const DeleteOptions& options) {
  const Kind& pods = objects.registry.built_in("pods");
  const ObjectPtr pod = objects.table.find(pods, key);
  if (pod == nullptr) return not_found(pods, key.name);
  const Node document = pod->document();
  if (!needs_no_budget(document)) {
    if (auto done = check_budget(objects, *pod, document, options.is_dry_run); !done) return done;
  }
  if (!options.is_dry_run) {
    objects.change(pods, key, [&](Node& changed) {
      set_condition(changed,
                    {.type = "DisruptionTarget",
                     .status = "True",
                     .reason = "EvictionByEvictionAPI",
                     .message = "Eviction API: evicting"},
                    objects.clock.now());
    });
  }
  auto deleted = objects.remove(pods, key, options);
  if (!deleted) return Refused(std::move(deleted.error()));
  return {};
}

}  // namespace spillway::embedded
