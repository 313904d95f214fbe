// Identity and state in the cluster that a program runs in (services/agent/cluster_home.h).
#pragma once

#include <optional>
#include <string>

#include "services/log.h"

namespace spillway::services {

struct InCluster {
  std::string identity;    // names of Secrets in its own namespace
  std::string state;       //
  std::string lease;       //
  std::string join;        // URL of the broker, to join when there is no identity yet
  std::string token_file;  // with this token
  // The other process of this member that keeps identity and papers, by the name that it lives
  // under; empty: this one does.
  std::string keeper = {};
};

// Where a member's process lives, and whom it talks to: the same for all of them.
struct MemberHome {
  std::optional<InCluster> in_cluster;  // instead of the folders `identity` and `state`
  std::string identity;                 // the folder that spillway join made
  std::string state;                    // a folder of its own
  bool forget_state = false;            // of the folder
  std::string broker;                   // its URL; empty: the one that was joined
  std::string kubeconfig;               // of the cluster; empty: the one that this runs in
  std::string context;                  // of the kubeconfig; empty: its current one
  std::string operations;               // address:port for probes and Prometheus; empty: none
  Level log_level = Level::info;
};

}  // namespace spillway::services
