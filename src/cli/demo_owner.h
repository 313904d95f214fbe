// DemoOwner: whoever owns a cluster of the demo, and has work for it: what `kubectl run` and
// `kubectl delete pod` would do.
#pragma once

#include <string>

#include "base/result.h"

namespace spillway::cli {

Status run_own_pod(const std::string& kubeconfig, const std::string& name, int cpus);
Status end_own_pod(const std::string& kubeconfig, const std::string& name);

}  // namespace spillway::cli
