// What the Cluster Autoscaler sees in one loop: the cluster by its API, the cloud by externalgrpc.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/resources.h"
#include "supply/node_row.h"
#include "supply/placement.h"

namespace spillway::scaler {

inline constexpr const char* k_to_be_deleted = "ToBeDeletedByClusterAutoscaler";

struct NodeView {
  supply::NodeRow row;  // `allocatable`: what pods are counted against
  std::string provider_id;
  model::Resources capacity;  // what waste and shape are measured by
  Instant created;
};

struct PodView {
  std::string key;    // <namespace>/<name>
  std::string owner;  // uid of its controller; empty: it has none, and nobody makes it again
  std::string node;   // empty: it waits for one
  model::Resources requests;
  std::shared_ptr<const supply::Placement> placement;
  Instant created;
  bool is_unschedulable = false;  // the scheduler has said so
  bool is_daemon = false;         // goes with its node
  bool may_move = true;           // else it keeps its node
};

// In the order in which the API lists them, which nobody may rely on.
struct ClusterView {
  std::vector<NodeView> nodes;
  std::vector<PodView> pods;  // without those that have ended
};

struct Instance {
  enum class State : uint8_t { unspecified, running, creating, deleting };
  std::string id;
  State state = State::unspecified;
  std::optional<std::string> error_code;
};

struct GroupView {
  std::string id;
  int32_t min = 0;
  int32_t max = 0;
  int32_t target = 0;
  std::vector<Instance> instances = {};
  std::optional<NodeView> template_node = {};  // only if it was asked for
};

struct CloudView {
  std::vector<GroupView> groups;
  std::map<std::string, std::string> group_of;  // by a node's name or an instance's id; "": foreign

  GroupView* find(const std::string& group);
  const GroupView* find(const std::string& group) const;
  // None: it is nobody's, or the group is gone.
  const GroupView* owner_of(const std::string& node) const;
};

bool has_taint(const NodeView& node, std::string_view key);
// It was tainted, and not so long ago that whoever did it must have failed.
bool is_being_deleted(const NodeView& node, Instant now);
// Counts by GPU, as the Cluster Autoscaler does when a node has any.
int64_t gpus_of(const model::Resources& resources);

// A node as it would be new: other name, without the taints that come and go.
NodeView as_template(const NodeView& node, const std::string& name);

}  // namespace spillway::scaler
