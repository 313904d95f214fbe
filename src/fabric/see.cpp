#include "fabric/see.h"

#include <algorithm>

#include "fabric/account.h"
#include "fabric/fence.h"
#include "fabric/liqo/guard.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

using model::Node;
using model::text_at;

std::string text_in_meta(const Node& object, std::string_view key) {
  return std::string(text_at(object, {"metadata", key}));
}

bool is_being_deleted(const Node& object) {
  return !text_at(object, {"metadata", "deletionTimestamp"}).empty();
}

bool is_of_every_node(const Node& pod) {
  const auto& owners = model::items_at(pod, {"metadata", "ownerReferences"});
  return std::any_of(owners.begin(), owners.end(),
                     [](const Node& owner) { return text_at(owner, {"kind"}) == "DaemonSet"; });
}

std::string_view readiness_of(const Node& node) {
  for (const Node& condition : model::items_at(node, {"status", "conditions"})) {
    if (text_at(condition, {"type"}) == "Ready") return text_at(condition, {"status"});
  }
  return {};
}

bool must_not_run_twice(const Node& object, model::Path pod_spec) {
  static const Node k_none;
  const Node* labels = model::look(object, {"metadata", "labels"});
  const Node* spec = model::look(object, pod_spec);
  return has_identity(labels == nullptr ? k_none : *labels, spec == nullptr ? k_none : *spec);
}

// The scheduler has looked at it, and it is none that belongs to one node.
bool found_no_node(const Node& pod) {
  if (is_being_deleted(pod) || !text_at(pod, {"spec", "nodeName"}).empty()) return false;
  if (is_of_every_node(pod)) return false;
  const auto& conditions = model::items_at(pod, {"status", "conditions"});
  return std::any_of(conditions.begin(), conditions.end(), [](const Node& one) {
    return text_at(one, {"type"}) == "PodScheduled" && text_at(one, {"status"}) == "False" &&
           text_at(one, {"reason"}) == "Unschedulable";
  });
}

// When its grace is over; of one that stays, never.
Instant gone_by(const Node& pod) {
  const auto at = parse_instant(text_in_meta(pod, "deletionTimestamp"));
  return std::min(k_not_gone, at.value_or(k_not_gone));
}

}  // namespace

PeerSpace see_peer_space(const Node& space) {
  PeerSpace seen;
  seen.peer = text_at(space, {"metadata", "labels", liqo::k_peer_label});
  const bool is_tenants =
      !text_at(space, {"metadata", "labels", liqo::k_tenant_namespace_label}).empty();
  const std::string of = liqo::peer_of_tenant_namespace(text_at(space, {"metadata", "name"}));
  if (!of.empty()) {
    seen.use = of == seen.peer && is_tenants ? PeerSpace::Use::tenants : PeerSpace::Use::edited;
  } else {
    seen.use = is_tenants ? PeerSpace::Use::somebody : PeerSpace::Use::guests;
  }
  seen.is_ending = is_being_deleted(space);
  seen.request = text_at(space, {"metadata", "annotations", k_request_annotation});
  seen.provider = text_at(space, {"metadata", "annotations", liqo::k_provider_annotation});
  return seen;
}

SpaceSight see_space(const Node& space) {
  SpaceSight seen;
  seen.is_ending = is_being_deleted(space);
  if (const Node* labels = model::look(space, {"metadata", "labels"})) {
    for (const Node& one : labels->items) seen.labels.emplace(one.key, one.text);
  }
  return seen;
}

NodeSight see_node(const Node& node) {
  const std::string_view readiness = readiness_of(node);
  return {.uid = text_in_meta(node, "uid"),
          .provider_id = std::string(text_at(node, {"spec", "providerID"})),
          .is_ready = readiness == "True",
          .is_cordoned = model::boolean_at(node, {"spec", "unschedulable"}),
          .version = text_in_meta(node, "resourceVersion"),
          .taints = model::items_at(node, {"spec", "taints"}),
          .is_silent = readiness == "Unknown"};
}

std::optional<PodSight> see_pod(const Node& pod) {
  constexpr int64_t k_usual_grace = 30;  // Kubernetes' own
  // As long as a provider without our guard lets a guest have; no more than arithmetic can bear.
  constexpr int64_t k_longest_grace = int64_t{365} * 24 * 3600;
  const bool is_mirror =
      !text_at(pod, {"metadata", "annotations", "kubernetes.io/config.mirror"}).empty();
  const std::string_view phase = text_at(pod, {"status", "phase"});
  if (is_mirror || is_of_every_node(pod) || phase == "Succeeded" || phase == "Failed") {
    return std::nullopt;
  }
  const int64_t grace =
      model::integer_at(pod, {"spec", "terminationGracePeriodSeconds"}, k_usual_grace);
  return PodSight{.space = text_in_meta(pod, "namespace"),
                  .name = text_in_meta(pod, "name"),
                  .is_leaving = is_being_deleted(pod),
                  .uid = text_in_meta(pod, "uid"),
                  .version = text_in_meta(pod, "resourceVersion"),
                  .has_identity = must_not_run_twice(pod, {"spec"}),
                  .grace = seconds(std::clamp<int64_t>(grace, 0, k_longest_grace)),
                  .tolerations = model::items_at(pod, {"spec", "tolerations"}),
                  .gone_by = gone_by(pod)};
}

std::optional<WaitingPod> see_waiting_pod(const Node& pod) {
  if (!found_no_node(pod)) return std::nullopt;
  const Node* tolerations = model::look(pod, {"spec", "tolerations"});
  return WaitingPod{text_in_meta(pod, "namespace"), text_in_meta(pod, "name"),
                    text_in_meta(pod, "uid"), text_in_meta(pod, "resourceVersion"),
                    tolerations == nullptr ? model::array_node() : *tolerations};
}

GuestSight see_guest(const Node& shadow_pod) {
  return {std::string(text_at(shadow_pod, {"metadata", "labels", liqo::k_creator_label})),
          must_not_run_twice(shadow_pod, {"spec", "pod"})};
}

}  // namespace spillway::fabric
