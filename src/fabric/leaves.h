// Leaves: what of an offloaded namespace goes to a provider, under which name there, and why; and
// what stays. By the rules of Liqo's virtual kubelets (1.2.0), from objects as they are now. What a
// provider's guard then refuses is its own matter (docs/fabric-rules.md).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "fabric/liqo/vk_options.h"
#include "model/node.h"

namespace spillway::fabric {

// Of one namespace, as the API server has them.
struct SpaceContents {
  std::string space;
  std::vector<model::Node> secrets;
  std::vector<model::Node> config_maps;
  std::vector<model::Node> services;
  std::vector<model::Node> endpoint_slices;
  std::vector<model::Node> ingresses;
  std::vector<model::Node> pods;
};

struct Destination {
  std::string buyer;  // Liqo ids
  std::string provider;
  liqo::Reflection reflection;  // by which its virtual kubelets go
  std::set<std::string> nodes;  // its virtual nodes here
};

struct LeavesRow {
  std::string kind;  // Secret, ConfigMap, Token, Service, EndpointSlice, Ingress, Pod
  std::string name;
  bool leaves = false;
  std::string there;  // its name at the provider; empty: it stays
  std::string why;
  bool operator==(const LeavesRow&) const = default;
};

// Sorted by kind, in the order above, then by name.
std::vector<LeavesRow> what_leaves(const SpaceContents& contents, const Destination& to);

}  // namespace spillway::fabric
