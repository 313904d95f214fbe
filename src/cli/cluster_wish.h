// ClusterWish: what a person wants of a cluster to try things on, embedded or real.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace spillway::cli {

struct ClusterWish {
  std::string name;
  int32_t nodes = 2;
  std::string cpu = "4";  // of each node
  std::string memory = "16Gi";
  bool has_liqo = false;
  int32_t port = 0;        // of its API; 0: any that is free
  std::string kubeconfig;  // written as soon as it can be used
  bool at_home = false;    // it lives as long as its ClusterHome does
};

// Before anything is started: the name, and amounts that a node can have.
Status check(const ClusterWish& wish);

}  // namespace spillway::cli
