// DemoNodes: what bought capacity has become. Each unit is a virtual node of the buyer's cluster;
// the pods that are placed on it run as guests in the cluster of whoever sold it. All of it is
// seen, in these clusters' own APIs; nothing is taken from what the agents say.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fabric/deed.h"
#include "kube/api.h"
#include "kube/watch.h"
#include "sim/scaler/views.h"

namespace spillway::cli {

struct UnitNode {
  std::string name;
  std::string seller = {};
  std::string provider_id = {};  // of its Node; empty: there is none yet
  ContractId contract = {};
  fabric::UnitStep step = fabric::UnitStep::carried;
  int32_t guests = 0;                       // of its pods, that run at the seller
  int32_t most_guests = 0;                  // at once
  std::optional<Instant> first_ready = {};  //
  std::optional<Instant> gone = {};

  bool is_ready() const { return step == fabric::UnitStep::ready; }
};

class DemoNodes {
 public:
  explicit DemoNodes(kube::Api& buyer);

  void start();
  void watch_guests(const std::string& seller, kube::Api& api);
  bool is_synced() const;

  // `cluster`: the buyer's. Often enough, so that nothing is missed.
  void look(const scaler::ClusterView& cluster, Instant now);
  // All that there were, in the order in which they came.
  const std::vector<UnitNode>& all() const { return all_; }
  int32_t most_guests() const { return most_guests_; }  // of all of them, at once

 private:
  struct SliceSeen {
    std::string seller;
    ContractId contract;
    bool is_granted = false;
    bool is_to_end = false;
  };
  struct NodeSeen {
    std::string provider_id;
    bool is_ready = false;
  };
  struct Guests {
    std::set<std::string> running = {};  // names, which they have from the buyer's pods
    std::unique_ptr<kube::Watch> watch = {};
  };

  void put_slice(const kube::Object& slice);
  fabric::UnitStep step_of(const std::string& name) const;
  int32_t guests_of(const UnitNode& unit, const scaler::ClusterView& cluster) const;

  std::map<std::string, SliceSeen> slices_;
  std::map<std::string, NodeSeen> nodes_;
  std::map<std::string, Guests> guests_;  // by seller
  std::vector<UnitNode> all_;
  int32_t most_guests_ = 0;
  kube::Watch slice_watch_;
  kube::Watch node_watch_;
};

}  // namespace spillway::cli
