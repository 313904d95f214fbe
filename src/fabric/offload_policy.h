// OffloadPolicy: which namespaces of a buyer's cluster may be offloaded to what it has bought, and
// to whom more than their pods may go. The part `offload` of the agent's policy file
// (services/agent/agent_policy.h); docs/fabric.md explains it. Without one nothing is offloaded.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "fabric/liqo/parts.h"
#include "model/intent.h"

namespace spillway::fabric {

// Where the pods of an offloaded namespace may run.
enum class PodPlaces { local_and_remote, remote };

// Providers to which everything goes that a namespace has, unless it says otherwise itself. To all
// others go pods, and what says by an annotation that it may.
struct TrustedProviders {
  std::vector<ClusterId> clusters;  // by their names in the federation
  bool pinned = false;              // those whose key the operator has pinned by hand
  bool operator==(const TrustedProviders&) const = default;
};

struct OffloadPolicy {
  std::vector<std::string> namespaces;         // by name
  std::vector<model::LabelConstraint> labels;  // and those where all of these hold; none: no others
  PodPlaces pods = PodPlaces::local_and_remote;
  TrustedProviders trusted;
  bool operator==(const OffloadPolicy&) const = default;
};

Status validate(const OffloadPolicy& policy);

// Why a namespace of that name is never offloaded, whatever a policy says; none: it may be.
std::optional<std::string> why_never(std::string_view space);

// Whether the policy names it, or its labels do.
bool names(const OffloadPolicy& policy, std::string_view space, const liqo::Texts& labels);

bool is_trusted(const OffloadPolicy& policy, const ClusterId& provider, bool is_pinned);

}  // namespace spillway::fabric
