// Registry: what the Cluster Autoscaler remembers of groups from loop to loop, and what follows
// from it and one look at cluster and cloud: which nodes are ready, on their way or overdue, how
// many are still coming, which groups may grow.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/scaler/backoff.h"
#include "sim/scaler/options.h"
#include "sim/scaler/views.h"

namespace spillway::scaler {

// Of one group, or of all. Names of nodes; of those that are not registered, ids of instances.
struct Readiness {
  std::vector<std::string> ready;
  std::vector<std::string> unready;  // broke after they had started
  std::vector<std::string> being_deleted;
  std::vector<std::string> not_started;  // registered, not Ready yet
  std::vector<std::string> unregistered;
  std::vector<std::string> long_unregistered;
  int32_t registered = 0;  // all that the cluster has
};

class Registry {
 public:
  explicit Registry(const Options& options) : options_(options), backoff_(options) {}

  // Once in a loop, before anything is asked of it.
  void update(const ClusterView& cluster, const CloudView& cloud, Instant now);

  bool is_cluster_healthy() const;
  // Healthy, and not backed off.
  bool may_grow(const GroupView& group, Instant now) const;
  // Nodes that are not Ready yet, by group; those of them that are registered are named.
  struct Upcoming {
    int32_t count = 0;
    std::vector<std::string> registered;
  };
  std::map<std::string, Upcoming> upcoming(const CloudView& cloud) const;
  // Instances that have not become nodes for longer than max-node-provision-time.
  const Readiness& of(const std::string& group) const;
  // By how much a group's target is to fall, since so many nodes have not come for so long.
  int32_t missing_for_long(const GroupView& group, Instant now) const;
  // Whether its instances must be asked for: those of other groups may be up to two minutes old.
  bool is_scaling_up(const std::string& group) const;

  void scaled_up(const GroupView& group, int32_t delta, Instant now);
  void scale_up_failed(const std::string& group, Instant now) { backoff_.failed(group, now); }

 private:
  struct Request {
    int32_t increase = 0;
    Instant since;
    Instant expected_by;
  };
  struct WrongSize {
    int32_t current = 0;
    int32_t expected = 0;
    Instant since;
  };

  void note_unregistered(const ClusterView& cluster, const CloudView& cloud, Instant now);
  void count(const ClusterView& cluster, const CloudView& cloud, Instant now);
  void count_node(Readiness& readiness, const NodeView& node, Instant now) const;
  void end_requests(Instant now);
  void hear_errors(const CloudView& cloud, Instant now);
  void note_sizes(const CloudView& cloud, Instant now);
  int32_t least_nodes(const GroupView& group) const;
  int32_t provisioned(const std::string& group) const;
  bool is_healthy(const GroupView& group) const;

  const Options& options_;
  Backoff backoff_;
  std::map<std::string, Request> requests_;
  std::map<std::string, Instant> unregistered_;  // instances, since when
  std::map<std::string, Readiness> readiness_;
  std::map<std::string, int32_t> targets_;
  std::map<std::string, WrongSize> wrong_sizes_;
  std::set<std::string> known_errors_;
  Readiness total_;
};

}  // namespace spillway::scaler
