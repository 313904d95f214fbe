#include "fabric/mourning.h"

#include <algorithm>

#include "fabric/liqo/shape.h"

namespace spillway::fabric {
namespace {

using liqo::list_of;
using liqo::object_of;

// Lists are replaced whole: about that version and no other.
model::Node list_patch(const std::string& version, std::string_view list, Entries entries) {
  return object_of({{"metadata", object_of({{"resourceVersion", model::text_node(version)}})},
                    {"spec", object_of({{list, list_of(std::move(entries))}})}});
}

Place place_of_pod(const PodSight& pod) { return {liqo::k_pods, pod.space, pod.name}; }

void set_taints(const std::string& unit, const BoughtSight& seen, Mourning mourning, Instant now,
                Plan& plan) {
  auto taints = taints_for(seen.node->taints, mourning, now);
  if (!taints) return;
  plan.deeds.emplace_back(
      Merge{{liqo::k_nodes, {}, unit}, list_patch(seen.node->version, "taints", *taints)});
}

}  // namespace

bool is_known(const BoughtSight& seen) {
  return std::none_of(seen.pods.begin(), seen.pods.end(),
                      [](const PodSight& pod) { return pod.name.empty(); });
}

Instant stopped_by(const ProviderLife& life, Duration fence, const PodSight& pod) {
  return fence_over(life, fence) + pod.grace;
}

Instant fence_over(const ProviderLife& life, Duration fence) {
  return life.unheard + fence + life.margin;
}

bool mourn(const ProviderLife& life, const std::string& unit, Duration fence,
           const BoughtSight& seen, Instant now, Plan& plan) {
  if (!seen.node) return false;
  bool holds = false;
  bool is_ready = is_known(seen) && is_closed(seen.node->taints);
  for (const PodSight& pod : seen.pods) {
    if (!pod.has_identity) continue;
    holds = true;
    const Instant end = stopped_by(life, fence, pod);
    if (end > now) plan.look_by(end);
    if (end <= now && life.is_given_up) {
      plan.deeds.emplace_back(Remove{place_of_pod(pod), pod.uid, true});
    } else if (auto wanted = tolerations_for(pod.tolerations)) {
      is_ready = false;
      plan.deeds.emplace_back(
          Merge{place_of_pod(pod), list_patch(pod.version, "tolerations", *wanted)});
    }
  }
  set_taints(unit, seen, is_ready ? Mourning::evicting : Mourning::closed, now, plan);
  return holds || !is_known(seen);
}

void lift(const std::string& unit, const BoughtSight& seen, Instant now, Plan& plan) {
  if (seen.node) set_taints(unit, seen, Mourning::none, now, plan);
}

bool force_out(const BoughtSight& seen, Plan& plan) {
  if (!seen.node) return false;
  for (const PodSight& pod : seen.pods) {
    if (!pod.name.empty()) plan.deeds.emplace_back(Remove{place_of_pod(pod), pod.uid, true});
  }
  return !seen.pods.empty();
}

}  // namespace spillway::fabric
