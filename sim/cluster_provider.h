// A provider with a cluster of its own: what its agent sells is what the shipping LiveSupply sees
// there, over the shipping Kubernetes client and the simulated network.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kube/api.h"
#include "services/agent/live_supply.h"
#include "sim/cluster.h"
#include "sim/cluster_life.h"
#include "sim/provider.h"

namespace spillway::sim {

class ClusterProvider final : public SimProvider {
 public:
  ClusterProvider(Surroundings& around, Address at, Address cluster_at, const std::string& name);

  std::vector<OfferId> offer_ids() const override;
  void live(Duration fault_every) { life_.begin(fault_every); }
  void calm() { life_.calm(); }

 private:
  std::optional<agent::Supply> first_supply() override { return std::nullopt; }
  void on_agent_started() override;
  void on_agent_ending() override;
  void change_something() override {}  // its cluster does
  void check_supply() override;

  supply::OfferingPolicy policy_;
  SimCluster cluster_;
  ClusterLife life_;
  SimChannel to_cluster_;
  std::unique_ptr<kube::Api> api_;
  std::optional<agent::LiveSupply> live_;
};

}  // namespace spillway::sim
