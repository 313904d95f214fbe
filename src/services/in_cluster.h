// Identity and state in the cluster that a program runs in (services/agent/cluster_home.h).
#pragma once

#include <string>

namespace spillway::services {

struct InCluster {
  std::string identity;    // names of Secrets in its own namespace
  std::string state;       //
  std::string lease;       //
  std::string join;        // URL of the broker, to join when there is no identity yet
  std::string token_file;  // with this token
};

}  // namespace spillway::services
