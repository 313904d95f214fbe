// Fitting: whether a pod may run on a node, by the rules of kube-scheduler's filters: cordons,
// taints, node selector and affinity, resources, affinity to other pods. Pure: what is known of
// nodes and pods comes in as values.
//
// Not considered: ports, volumes, topology spread, preemption, and any preference: of the nodes
// that fit, the one with the most left is taken, and of equals the one with the fewest pods.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "embedded/amounts.h"
#include "embedded/object.h"
#include "embedded/selector.h"
#include "model/node.h"

namespace spillway::embedded {

struct Taint {
  std::string key, value, effect;
  bool operator==(const Taint&) const = default;
};

struct Toleration {
  std::string key, op, value, effect;
  int64_t seconds = -1;  // -1: for ever
  bool tolerates(const Taint& taint) const;
};

// A required term of affinity or anti-affinity.
struct PodTerm {
  std::string topology;  // label of nodes
  Selector selector;
  std::vector<std::string> spaces;  // empty: the pod's own
};

struct PodView {
  std::string space;
  Pairs labels;
  Amounts requests;
  std::vector<Toleration> tolerations;
  Selector node_selector;
  std::vector<std::pair<Selector, Selector>> node_terms;  // labels and fields; any of them
  bool has_node_terms = false;
  std::vector<PodTerm> near;
  std::vector<PodTerm> apart;
};

struct NodeView {
  std::string name;
  Pairs labels;
  Amounts allocatable;
  std::vector<Taint> taints;
  bool is_unschedulable = false;
  bool operator==(const NodeView&) const = default;
};

struct NodeLoad {
  NodeView node;
  Amounts used;
  std::map<Key, PodView> pods;
};

PodView view_pod(const model::Node& pod);
NodeView view_node(const model::Node& node);
std::vector<Toleration> read_tolerations(const model::Node& pod);

struct Loads {
  std::map<std::string, NodeLoad> by_node;
  int64_t with_apart = 0;  // pods that mind their neighbours: mostly none, and then nobody asks
};

// Why not, in the scheduler's words; none: it fits. Of resources several may be short.
std::vector<std::string> reasons_against(const PodView& pod, const NodeLoad& load,
                                         const Loads& all);

// "0/3 nodes are available: 1 Insufficient cpu, …"
std::string explain(const std::map<std::string, int>& reasons, size_t nodes);

}  // namespace spillway::embedded
