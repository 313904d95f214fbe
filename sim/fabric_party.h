// A member whose contracts become nodes: its cluster has Liqo, its shipping agent hosts the
// shipping Fabric over the shipping Kubernetes client, and both reach other such clusters over the
// simulated network. It sells, buys, or both; what it buys is signed with a Liqo part.
//
// The agent is killed in the middle of what it does; its API server goes away, and people delete
// and edit what is there. The laws on all of it are in sim/fabric_laws.h.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/api.h"
#include "services/agent/agent.h"
#include "services/fabric/liqo_home_reader.h"
#include "sim/api_trouble.h"
#include "sim/disk.h"
#include "sim/fabric_hand.h"
#include "sim/fabric_work.h"
#include "sim/party.h"
#include "sim/roads.h"

namespace spillway::sim {

class FabricParty final : public Party {
 public:
  static constexpr Duration k_longest_fence = seconds(80);  // of its offers
  // So long after a hindrance, in foul weather, its agent is at its post again.
  static constexpr Duration k_looks_within = seconds(120);

  struct Addresses {
    Address agent = 0;
    Address cluster = 0;
  };
  FabricParty(Surroundings& around, const Addresses& at, const std::string& name, Roads& roads,
              bool sells);

  const ClusterId& id() const { return id_; }
  SimCluster& cluster() { return cluster_; }
  Addresses addresses() const { return at_; }
  const agent::Agent* agent() const { return agent_.get(); }
  const FabricWork& work() const { return work_; }
  std::vector<OfferId> offer_ids() const;
  // Whose offers it buys; none: it buys nothing.
  void set_market(std::vector<OfferId> offers) { market_ = std::move(offers); }

  // Means between two faults of its cluster; zero: none.
  void live(Duration fault_every);
  void calm();
  void check_settled() override;

  // Since when nothing has kept its agent from seeing and changing its cluster; none: something
  // does.
  std::optional<Instant> able_since() const;
  // Its agent lives, and has seen since it was started what is there.
  bool has_looked() const { return agent_ != nullptr && has_looked_; }
  // When its owner told a unit to go.
  std::optional<Instant> told_to_end(const std::string& unit) const;
  FabricHand& hand() { return hand_; }
  // When its agent last had a provider for dead; what it wanted then may come late.
  Instant last_mourned();
  // As the agent last had it.
  const model::Contract* last_known(const ContractId& id) const;

 private:
  void begin() override;
  void end() override;
  void on_certificate() override;
  bool has_agent() const override { return true; }
  void start_agent();
  agent::Supply supply() const;
  agent::FabricOptions fabric_options();
  void invent();
  void look_at_agent();

  // Buying.
  void shop_later();
  void shop();
  void hold();
  void sign(const ContractId& contract, int tries);
  std::vector<ContractId> bought() const;
  void give_back(const ContractId& contract, std::vector<int32_t> units);
  void end_by_annotation(const ContractId& contract);
  void buy_spares(const ContractId& contract);

  // Faults.
  void fail_later(Duration mean);
  void fail();
  void kill_at_deed(const net::Request& request);
  void kill(Duration longest);

  Addresses at_;
  ClusterId id_;
  services::NoLog log_;
  Roads& roads_;
  SimCluster cluster_;
  FabricWork work_;
  ApiTrouble trouble_;
  FabricHand hand_;
  SimDisk disk_;
  SimChannel to_cluster_;
  bool renews_;  // its agent does
  model::Pool pool_;
  std::vector<model::Offer> offers_;  // none: it sells nothing
  std::vector<OfferId> market_;
  bool is_calm_ = true;
  uint64_t keys_ = 0;                           // on disk
  Instant hindered_;                            // until then its agent was not at its post
  std::map<std::string, Instant> told_to_end_;  // units, and when
  std::map<ContractId, model::Contract> known_;
  Instant mourned_;
  bool has_looked_ = false;

  std::unique_ptr<kube::Api> api_;
  std::optional<agent::LiqoHomeReader> liqo_;
  std::unique_ptr<agent::Agent> agent_;
  std::unique_ptr<agent::Signing> signing_;
};

}  // namespace spillway::sim
