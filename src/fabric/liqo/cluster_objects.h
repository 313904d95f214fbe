// Kubernetes' own objects that a peering and its units leave in a cluster, as far as the fabric
// looks at them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/liqo/names.h"
#include "fabric/liqo/parts.h"
#include "model/node.h"

namespace spillway::fabric::liqo {

// A unit at the buyer, when its virtual kubelet has begun. It says what the VirtualNode does not:
// whether work can run there.
struct UnitNode {
  static constexpr const Kind& k_kind = k_nodes;
  Meta meta;
  std::string provider_id;
  bool cordoned = false;
  std::vector<model::Taint> taints;
  Amounts allocatable;
  Conditions conditions;
  bool operator==(const UnitNode&) const = default;

  bool is_ready() const { return status_of(conditions, "Ready") == "True"; }
};
Result<UnitNode> read_unit_node(const model::Node& object);
model::Node to_object(const UnitNode& node);

// A tenant namespace, or one that guests live in.
struct Space {
  static constexpr const Kind& k_kind = k_namespaces;
  Meta meta;
  bool operator==(const Space&) const = default;

  std::string_view peer() const { return meta.label(k_peer_label); }
  bool is_tenants() const { return meta.label(k_tenant_namespace_label) == "true"; }
};
Result<Space> read_space(const model::Node& object);
model::Node to_object(const Space& space);

}  // namespace spillway::fabric::liqo
