// AgentPolicy: what a cluster's owner lets its agent do: what it sells of the live cluster
// (supply/policy.h), what it grants with that (fabric/grant_policy.h), and which namespaces may
// leave for what it buys (fabric/offload_policy.h). One YAML file; examples/agent-policy.yaml shows
// one, docs/supply.md and docs/fabric.md explain it.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "fabric/grant_policy.h"
#include "fabric/offload_policy.h"
#include "supply/policy.h"

namespace spillway::agent {

struct AgentPolicy {
  std::optional<supply::OfferingPolicy> offering;  // none: it speaks of nothing that is for sale
  fabric::OffloadPolicy offload;
  fabric::GrantPolicy grant;
  bool operator==(const AgentPolicy&) const = default;
};

// Errors name `source`, the line and the field.
Result<AgentPolicy> agent_policy_from_yaml(std::string_view text,
                                           std::string_view source = "policy");

}  // namespace spillway::agent
