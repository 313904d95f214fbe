// A kind of fabric/ as the Kubernetes client asks for it.
#pragma once

#include <string>

#include "fabric/liqo/names.h"
#include "kube/resource.h"

namespace spillway::agent {

inline kube::Resource resource_of(const fabric::liqo::Kind& kind) {
  return {std::string(kind.group), std::string(kind.version), std::string(kind.plural),
          kind.is_namespaced};
}

}  // namespace spillway::agent
