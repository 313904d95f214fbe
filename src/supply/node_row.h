// NodeRow: what supply needs to know of a node of the cluster, taken from its Kubernetes object.
//
// A node that cannot be read in full is still a row, with `problem` saying what is wrong: such a
// node is not offered. Where the object leaves a doubt the cautious reading is taken: not Ready
// unless it says so, cordoned unless it says that it is not, a taint of unknown effect keeps
// strangers away. Only an object without a name is no row.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/labels.h"
#include "model/node.h"
#include "model/resources.h"

namespace spillway::supply {

struct NodeRow {
  std::string name;
  std::string arch;              // "amd64"; "unknown" when nobody says
  model::Resources allocatable;  // GPUs by resource name, among the extended (supply/gpu.h)
  // Of extended resources, what the machine has: also while some of it is ill, or while the plugin
  // that looks after it starts again. With zeros: a node that says nvidia.com/gpu: 0 has had some.
  model::Counts devices;
  model::Labels labels;  // all: the owner's pods may select by any
  std::vector<model::Taint> taints;
  bool ready = false;
  bool cordoned = false;
  bool going = false;       // being deleted
  bool is_virtual = false;  // another cluster's capacity, or a unit of ours: never sold again
  std::string problem;      // empty: read in full
  bool operator==(const NodeRow&) const = default;
};

// Not as it should be, and perhaps not for long: not Ready, under pressure, or short of a device.
bool is_ill(const NodeRow& row);

// Kubernetes' own words on a node's health; not for a cordoned one.
bool is_of_health(const model::Taint& taint);

Result<NodeRow> node_row(const model::Node& document);

}  // namespace spillway::supply
