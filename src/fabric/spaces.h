// Spaces: the buyer's namespaces that its owner's policy lets leave. Each has a NamespaceOffloading
// of ours before its first pod needs it, and one name at all providers, which is the only one that
// the guard takes (fabric/liqo/guard.h). It selects units of ours alone: virtual nodes that
// somebody made by hand have other options (fabric/liqo/vk_options.h), by which everything would
// leave.
//
// One that somebody else made is left alone, and named when it cannot work. Ours goes when the
// policy no longer names its namespace.
//
// Pods that found no node before their namespace was offloaded lack what Liqo adds to those that
// come later: they get the toleration in place, whether there is a unit or not. Without it they fit
// no unit, so nobody would buy one for them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fabric/deed.h"
#include "fabric/liqo/namespaces.h"
#include "fabric/offload_policy.h"

namespace spillway::fabric {

struct SpaceSight {
  liqo::Texts labels = {};
  bool is_ending = false;
  std::optional<liqo::NamespaceOffloading> offloading = {};
  bool has_unreadable = false;  // offloading, which is left alone
};

// The scheduler has looked, and found no node for it.
struct WaitingPod {
  std::string space;
  std::string name;
  std::string uid;
  std::string version;
  model::Node tolerations = {};  // all that it has
};

struct SpacesWish {
  std::string self;  // Liqo id
  OffloadPolicy policy;
  std::string own_space = {};  // where we live ourselves; empty: in no namespace
};

struct SpacesSight {
  std::map<std::string, SpaceSight> spaces = {};  // all of the cluster, by name
  std::vector<WaitingPod> waiting = {};
};

Plan plan_spaces(const SpacesWish& wish, const SpacesSight& sight);

// The one that it is to have.
Result<liqo::NamespaceOffloading> offloading_of(const SpacesWish& wish, std::string_view space);
// Why one with that name and these labels is never offloaded, whatever a policy says; none: it may
// be.
std::optional<std::string> why_stays(std::string_view space, const liqo::Texts& labels);
// Whether the policy lets it leave, and nothing else forbids it.
bool may_leave(const SpacesWish& wish, std::string_view space, const liqo::Texts& labels);
bool tolerates_virtual_nodes(const model::Node& tolerations);

}  // namespace spillway::fabric
