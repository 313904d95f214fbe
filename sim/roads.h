// Roads: how clusters with Liqo, and their agents, reach other clusters: by the URL in a kubeconfig
// that was made of a handshake, over the simulated network.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kube/access.h"
#include "sim/cluster.h"

namespace spillway::sim {

class Roads {
 public:
  explicit Roads(Network& network) : network_(network) {}

  static std::string url_of(const std::string& cluster);  // of its API server
  void add(const std::string& cluster, SimCluster& at);
  Result<std::unique_ptr<net::Channel>> dial(Process& from, Address at, const kube::Access& access);

 private:
  Network& network_;
  std::map<std::string, SimCluster*> hosts_;
};

}  // namespace spillway::sim
