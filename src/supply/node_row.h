// NodeRow: what supply needs to know of a node of the cluster, taken from its Kubernetes object.
//
// A node that cannot be read in full is still a row, with `problem` saying what is wrong: such a
// node is not offered. Where the object leaves a doubt the cautious reading is taken: not Ready
// unless it says so, cordoned unless it says that it is not, a taint of unknown effect keeps
// strangers away. Only an object without a name is no row.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/labels.h"
#include "model/node.h"
#include "model/resources.h"

namespace spillway::supply {

struct NodeRow {
  std::string name;
  std::string arch;              // "amd64"; "unknown" when nobody says
  model::Resources allocatable;  // GPUs by resource name, among the extended (supply/gpu.h)
  // Of extended resources, what the machine has: also while some of it is ill, or while the plugin
  // that looks after it starts again.
  model::Counts devices;
  model::Labels labels;  // all: the owner's pods may select by any
  std::vector<model::Taint> taints;
  bool ready = false;
  std::optional<Instant> unready_since;  // by its cluster's clock; none: it is, or nobody says
  bool cordoned = false;
  bool going = false;       // being deleted
  bool is_virtual = false;  // another cluster's capacity, or a unit of ours: never sold again
  std::string problem;      // empty: read in full
  bool operator==(const NodeRow&) const = default;
};

Result<NodeRow> node_row(const model::Node& document);

}  // namespace spillway::supply
