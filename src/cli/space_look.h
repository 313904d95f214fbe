// SpaceLook: what a cluster has of one namespace and of the way that it is offloaded, seen once,
// for `spillway leaves`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/leaves.h"
#include "fabric/liqo/namespaces.h"

namespace spillway::cli {

struct SpaceLook {
  std::string self;                      // Liqo id
  std::optional<std::string> why_stays;  // of one that is never offloaded
  std::optional<fabric::liqo::NamespaceOffloading> offloading;
  std::vector<model::Node> maps;  // of namespaces, all that there are
  std::vector<model::Node> virtual_nodes;
  std::vector<model::Node> templates;
  fabric::SpaceContents contents;
};

// Not found: there is no such namespace, or no Liqo. No kubeconfig: the cluster that this runs in.
Result<SpaceLook> look_at_space(const std::string& kubeconfig, const std::string& context,
                                const std::string& space);

// One for each provider that it is mapped to, with its name there.
struct SpaceProvider {
  fabric::Destination to;
  std::string space_there;
  bool is_trusted = false;  // of one without a provider's name: whoever the policy trusts
};
// Not mapped yet: those from which something is bought. Nothing bought either: two without a name,
// for the policy is the agent's, and either rule may be a provider's. Invalid: it can have no name
// at any.
Result<std::vector<SpaceProvider>> providers_of(const SpaceLook& look);

}  // namespace spillway::cli
