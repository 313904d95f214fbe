// Real clusters to try things on: Kubernetes itself, run by tools/realkube of a source tree.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/cluster_wish.h"

namespace spillway::cli {

struct RealCluster {
  std::string name;
  std::string condition;  // "up", or what is wrong with it
  std::string kubeconfig;
};

// None where there is no source tree.
Result<std::vector<RealCluster>> real_clusters();
bool is_real_cluster(const std::string& name);  // also false when nobody can say

Status up_real(const ClusterWish& wish);
Status down_real(const std::string& name);

}  // namespace spillway::cli
