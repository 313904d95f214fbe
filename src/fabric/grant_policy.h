// GrantPolicy: what a provider grants with every unit beside its amounts, and how it holds the
// guests on them. The part `grant` of the agent's policy file (services/agent/agent_policy.h);
// docs/fabric-rules.md explains it. Without one, nothing is granted beside amounts.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/guest_space.h"
#include "model/labels.h"

namespace spillway::fabric {

struct GrantPolicy {
  model::Labels node_labels;                       // on the buyer's nodes
  model::Labels node_selector;                     // where guests run here, and nowhere else
  std::vector<std::string> ingress_classes;        // the first is the default
  std::vector<std::string> load_balancer_classes;  //
  PodSecurity security = PodSecurity::baseline;
  std::vector<std::string> closed_networks;  // to guests, beside private ones
  bool operator==(const GrantPolicy&) const = default;
};

Status validate(const GrantPolicy& policy);

void add_to(liqo::Grant& grant, const GrantPolicy& policy);
void add_to(GuestWish& guests, const GrantPolicy& policy);

}  // namespace spillway::fabric
