// The agent as a program: its files, its connection, its signals.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "services/in_cluster.h"
#include "services/log.h"

namespace spillway::services {

struct AgentServiceOptions {
  std::optional<InCluster> in_cluster;  // instead of the folders `identity` and `state`
  std::string identity;                 // the folder that spillway join made
  std::string supply;                   // the file; empty with an empty policy: it sells nothing
  std::string policy;                   // the file; what is free in the live cluster is sold by it
  std::string kubeconfig;               // of the live cluster; empty: the one that this runs in
  std::string context;                  // of the kubeconfig; empty: its current one
  std::string state;                    // a folder of its own
  std::string operations;               // address:port for probes and Prometheus; empty: none
  bool forget_state = false;
  bool renew_contracts = true;
  Duration pool_lease = minutes(2);
  Level log_level = Level::info;
};

// Until SIGTERM or SIGINT, or until the home in the cluster is lost to another. SIGHUP reads the
// supply, or the policy, again.
Status run_agent(const AgentServiceOptions& options);

}  // namespace spillway::services
