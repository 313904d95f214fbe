// One conversation with a cluster's API server, from a verb that waits for its end.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "kube/api.h"

namespace spillway::cli {

inline constexpr Duration k_longest_asking = seconds(60);

// `begin` asks; whoever has the last answer calls `done`, or the first error. No kubeconfig: the
// cluster that this runs in.
Status ask_cluster(const std::string& kubeconfig, const std::string& context,
                   const std::function<void(kube::Api& api, kube::Then<void> done)>& begin);

}  // namespace spillway::cli
