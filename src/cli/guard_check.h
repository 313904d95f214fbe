// Whether a provider's cluster has the guard (fabric/liqo/guard.h), as this program would write it.
#pragma once

#include <string>

#include "base/result.h"

namespace spillway::cli {

// "enforced by 13 policies; Liqo v1.2.0", or what is not enforced, and what to do about it. No
// kubeconfig: the cluster that this runs in.
Result<std::string> look_at_guard(const std::string& kubeconfig, const std::string& context);

// Whether a buyer's Liqo id is nobody there (fabric/liqo/standing.h).
Status look_at_standing(const std::string& kubeconfig, const std::string& context,
                        const std::string& buyer);

}  // namespace spillway::cli
