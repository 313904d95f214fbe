// FabricNodes: the back end whose nodes are real: the fabric of this cluster's agent makes a
// virtual node of every unit that was bought, and ends it. So there is nothing to make here: the
// contract says it all. To end a unit is to say so on its slice; the agent drains it and takes it
// down.
//
// Others buy under the same name, too: by hand, say. What the ledger has is marked on its slice,
// and only that is ever taken for a leftover of ours. A unit that is made while we do not know yet
// that we have bought it has no mark, and is left alone.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/lifeline.h"
#include "kube/watch.h"
#include "services/autoscaler/node_maker.h"
#include "services/log.h"

namespace spillway::autoscaler {

inline constexpr std::string_view k_fabric_back_end = "liqo";

class FabricNodes final : public NodeMaker {
 public:
  FabricNodes(kube::Api& api, services::Log& log);

  void start(std::function<void()> changed) override;
  NodeSight look(const std::string& name) const override;
  void claim(const std::string& name) override;
  std::vector<std::string> names() const override;
  std::optional<int32_t> others_unready(const Knows& ledger) const override;
  void make(const demand::NodeImage& image, Then then) override;
  void remove(const std::string& name, Then then) override;

 private:
  struct SliceSeen {
    std::string space;
    bool is_ours = false;  // it says so
  };
  struct NodeSeen {
    bool is_ready = false;
    bool is_ending = false;  // the Cluster Autoscaler counts it as being deleted
    bool was_ready = false;  // it is not starting any more
    Instant made = {};
  };

  kube::WatchCalls calls_of(std::string what, std::function<void(const kube::Object&)> put,
                            std::function<void(const std::string&)> gone);
  void put_slice(const kube::Object& slice);
  static void see(NodeSeen& seen, const kube::Object& node);
  void slice_is_gone(const std::string& name);
  void node_is_gone(const std::string& name);

  kube::Api& api_;
  services::Log& log_;
  std::function<void()> changed_ = [] {};
  std::map<std::string, SliceSeen> slices_;            // of units
  std::set<std::string> claiming_;                     // until that is answered
  std::map<std::string, NodeSeen> nodes_;              // virtual ones, whoever made them
  std::set<std::string> parting_;                      // nodes whose slice, ours, is gone
  std::map<std::string, NodeSeen> others_;             // all others of the cluster
  std::map<std::string, std::vector<Then>> removing_;  // until the slice is gone
  kube::Watch slice_watch_;
  kube::Watch node_watch_;
  kube::Watch others_watch_;
  host::Lifeline life_;
};

}  // namespace spillway::autoscaler
