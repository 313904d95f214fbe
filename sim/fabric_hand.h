// FabricHand: somebody who deletes and edits by hand what Spillway has made in a cluster, and what
// Liqo has made for a peering and makes again: ForeignClusters and NamespaceMaps.
//
// Not a Node: Kubernetes would take its pods for gone. Not Liqo's own VkOptionsTemplate: nobody
// makes it again, and without it no node is made. Not Leases of virtual kubelets nor a tenant's
// namespace: they are Liqo's, and of the second everything would go at once, also what the other
// side has to let go of first.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fabric/liqo/names.h"
#include "sim/cluster.h"
#include "sim/world.h"

namespace spillway::sim {

// One field of one object, which the fabric must put right while the object stays and is wanted.
struct HandEdit {
  std::string unit;  // that it is about
  fabric::liqo::Kind kind;
  embedded::Key key;
  std::string uid;
  std::vector<std::string> path;
  std::string text;  // what it says now, and should not
  Instant at;
};

// What is there at that path; empty: nothing, or no text.
std::string text_in(const model::Node& document, const std::vector<std::string>& path);

class FabricHand {
 public:
  FabricHand(World& world, SimCluster& cluster) : world_(world), cluster_(cluster) {}

  void remove();
  void edit();

  // By its name, or as <namespace>/<name>.
  bool has_removed_since(const std::string& name, Instant time) const;
  bool has_edited_since(const std::string& unit, Instant time) const;
  // Those that nobody has looked at yet.
  std::vector<HandEdit> take_edits() { return std::exchange(edits_, {}); }

 private:
  std::vector<HandEdit> possible_edits();
  void find_slice_edits(std::vector<HandEdit>& all);
  void find_virtual_node_edits(std::vector<HandEdit>& all);
  void find_record_edits(std::vector<HandEdit>& all);
  const embedded::Kind& kind_of(const fabric::liqo::Kind& named);

  World& world_;
  SimCluster& cluster_;
  std::map<std::string, Instant> removed_;  // names, and when last
  std::map<std::string, Instant> edited_;   // units, and when last
  std::vector<HandEdit> edits_;
};

}  // namespace spillway::sim
