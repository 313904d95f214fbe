// Kubernetes' own objects that a peering leaves in a cluster, as far as the fabric looks at them;
// see also fabric/see.h.
#pragma once

#include <string_view>

#include "base/result.h"
#include "fabric/liqo/names.h"
#include "fabric/liqo/parts.h"
#include "model/node.h"

namespace spillway::fabric::liqo {

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
