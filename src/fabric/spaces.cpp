#include "fabric/spaces.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "fabric/liqo/guard.h"
#include "fabric/liqo/shape.h"
#include "model/json.h"
#include "model/unit_labels.h"

namespace spillway::fabric {
namespace {

struct Spacing {
  const SpacesWish& wish;
  const SpacesSight& sight;
  Plan plan = {};

  void tell(const std::string& space, std::string reason, std::string next) {
    plan.troubles.push_back({"namespace " + space, std::move(reason), std::move(next)});
  }
};

Place offloading_place(const std::string& space) {
  return {liqo::k_namespace_offloadings, space, std::string(liqo::k_offloading_name)};
}

bool is_ours(const liqo::NamespaceOffloading& offloading) {
  return offloading.meta.label(k_owner_label) == k_owner_fabric;
}

// Also for one that waits: what is mapped already stays so, others wait for room.
std::set<std::string> chosen(Spacing& s) {
  std::set<std::string> all;
  std::vector<std::string> later;
  for (const auto& [name, seen] : s.sight.spaces) {
    if (seen.is_ending || !may_leave(s.wish, name, seen.labels)) continue;
    if (seen.offloading || seen.has_unreadable) {
      all.insert(name);
    } else {
      later.push_back(name);
    }
  }
  for (const std::string& name : later) {
    if (all.size() < liqo::k_most_guest_spaces) {
      all.insert(name);
      continue;
    }
    s.tell(name,
           fmt::format("it is not offloaded: {} others are, and providers take no more",
                       liqo::k_most_guest_spaces),
           "name fewer in the policy's offload");
  }
  return all;
}

bool has_name_of(const liqo::NamespaceOffloading& seen, const liqo::NamespaceOffloading& wanted) {
  return seen.mapping == wanted.mapping && seen.remote_name == wanted.remote_name;
}

Kept kept_as(const std::string& space, const model::Node& wanted, bool is_right) {
  return {offloading_place(space), std::hash<std::string>{}(model::to_json(wanted)), is_right};
}

void settle_ours(Spacing& s, const std::string& space, const liqo::NamespaceOffloading& seen,
                 const liqo::NamespaceOffloading& wanted) {
  if (!seen.meta.deleted.empty()) return;
  // Liqo takes no other name later: it goes, and the next look makes another.
  if (!has_name_of(seen, wanted)) {
    s.plan.kept.push_back(kept_as(space, to_object(wanted), false));
    s.plan.deeds.emplace_back(Remove{offloading_place(space), seen.meta.uid});
    return;
  }
  if (seen.placement == wanted.placement && seen.selector == wanted.selector) {
    s.plan.kept.push_back(kept_as(space, to_object(wanted), true));
    return;
  }
  const model::Node object = to_object(wanted);
  s.plan.kept.push_back(kept_as(space, object, false));
  model::Node patch = liqo::object_of({{"spec", *model::look(object, {"spec"})}});
  s.plan.deeds.emplace_back(Merge{offloading_place(space), std::move(patch)});
}

void look_at_others(Spacing& s, const std::string& space, const liqo::NamespaceOffloading& seen,
                    const liqo::NamespaceOffloading& wanted) {
  if (has_name_of(seen, wanted) || !seen.meta.deleted.empty()) return;
  s.tell(space,
         fmt::format("somebody else has made its NamespaceOffloading, by which it is not called {} "
                     "at providers: those with the guard refuse it",
                     wanted.remote_name),
         "delete it, and the agent makes another; or leave the namespace out of the policy");
}

void keep(Spacing& s, const std::string& space, const SpaceSight& seen) {
  const auto wanted = offloading_of(s.wish, space);
  if (!wanted) {
    const Error& why = wanted.error();
    s.plan.troubles.push_back({why.thing, why.reason, why.next});
    return;
  }
  if (seen.has_unreadable) {
    return s.tell(space, "its NamespaceOffloading cannot be read",
                  "delete it, and the agent makes another");
  }
  if (!seen.offloading) {
    s.plan.deeds.emplace_back(Create{offloading_place(space), to_object(*wanted)});
  } else if (is_ours(*seen.offloading)) {
    settle_ours(s, space, *seen.offloading, *wanted);
  } else {
    look_at_others(s, space, *seen.offloading, *wanted);
  }
}

void drop(Spacing& s, const std::string& space, const SpaceSight& seen) {
  if (!seen.offloading || !is_ours(*seen.offloading)) return;
  if (!seen.offloading->meta.deleted.empty()) return;
  s.plan.deeds.emplace_back(Remove{offloading_place(space), seen.offloading->meta.uid});
}

model::Node virtual_toleration() {
  return liqo::object_of({{"key", model::text_node(liqo::k_taint)},
                          {"operator", model::text_node("Exists")},
                          {"effect", model::text_node("NoExecute")}});
}

// The list is replaced as a whole: by its version, so that nothing that came meanwhile is lost.
void let_pod_leave(Spacing& s, const WaitingPod& pod) {
  model::Node list = model::array_node();
  list.items = pod.tolerations.items;
  list.items.push_back(virtual_toleration());
  model::Node patch = model::object_node();
  model::put(model::ensure(patch, {"metadata"}), "resourceVersion", model::text_node(pod.version));
  model::put(model::ensure(patch, {"spec"}), "tolerations", std::move(list));
  s.plan.deeds.emplace_back(Merge{{liqo::k_pods, pod.space, pod.name}, std::move(patch)});
}

// Not before the NamespaceOffloading is there, and stays: without it a pod on a unit has nowhere to
// go.
bool is_open(const SpacesWish& wish, const std::string& space, const SpaceSight& seen) {
  if (!seen.offloading || !seen.offloading->meta.deleted.empty()) return false;
  if (seen.offloading->placement == liqo::Placement::local) return false;
  const auto wanted = offloading_of(wish, space);
  return !is_ours(*seen.offloading) || (wanted && has_name_of(*seen.offloading, *wanted));
}

}  // namespace

std::optional<std::string> why_stays(std::string_view space, const liqo::Texts& labels) {
  if (auto why = why_never(space)) return why;
  if (labels.find(liqo::k_peer_label) == labels.end()) return std::nullopt;
  return "it is a peer's: its tenant's, or where its guests live";  // not ours to send on
}

bool may_leave(const SpacesWish& wish, std::string_view space, const liqo::Texts& labels) {
  return space != wish.own_space && !why_stays(space, labels) && names(wish.policy, space, labels);
}

Result<liqo::NamespaceOffloading> offloading_of(const SpacesWish& wish, std::string_view space) {
  const auto name = liqo::guest_space_name(wish.self, space);
  if (!name) return tl::unexpected(name.error());
  liqo::NamespaceOffloading made = liqo::new_offloading(space, *name);
  made.meta.labels = {{std::string(k_owner_label), std::string(k_owner_fabric)}};
  if (wish.policy.pods == PodPlaces::remote) made.placement = liqo::Placement::remote;
  made.selector = {{{{model::k_provider_label, "Exists", {}}}}};
  return made;
}

bool tolerates_virtual_nodes(const model::Node& tolerations) {
  return std::any_of(tolerations.items.begin(), tolerations.items.end(),
                     [](const model::Node& one) {
                       const auto key = model::text_at(one, {"key"});
                       const auto effect = model::text_at(one, {"effect"});
                       const bool fits = effect.empty() || effect == "NoExecute";
                       const bool is_any = model::text_at(one, {"operator"}) == "Exists";
                       if (key.empty()) return fits && is_any;
                       const bool has_value = model::text_at(one, {"value"}) == "true";
                       return fits && key == liqo::k_taint && (is_any || has_value);
                     });
}

Plan plan_spaces(const SpacesWish& wish, const SpacesSight& sight) {
  Spacing s{wish, sight};
  const std::set<std::string> wanted = chosen(s);
  for (const auto& [name, seen] : sight.spaces) {
    if (wanted.contains(name)) {
      keep(s, name, seen);
    } else {
      drop(s, name, seen);
    }
  }
  for (const WaitingPod& pod : sight.waiting) {
    if (!wanted.contains(pod.space) || tolerates_virtual_nodes(pod.tolerations)) continue;
    if (is_open(wish, pod.space, sight.spaces.at(pod.space))) let_pod_leave(s, pod);
  }
  return std::move(s.plan);
}

}  // namespace spillway::fabric
