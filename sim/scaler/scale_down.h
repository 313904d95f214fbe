// Scaling down, as far as it is thinking: which nodes nobody would miss, since when, and which of
// them may go now.
//
// Algorithm: a candidate is a node of a group above its minimum that is not used beyond the
// threshold. Empty ones first, then those that were unneeded before, then by the cluster's order,
// each is taken away on paper: if all its pods find room on nodes that are still there, they are
// moved for good (on paper) and the node is unneeded. One that cannot go is looked at again only
// after unremovable-node-recheck-timeout.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/scaler/options.h"
#include "sim/scaler/snapshot.h"

namespace spillway::scaler {

struct Removal {
  NodeView node;
  std::string group;
  bool needs_drain = false;
};

class ScaleDown {
 public:
  explicit ScaleDown(const Options& options) : options_(options) {}

  // `snapshot`: with nodes that are on their way, and pods that are about to be placed. `nodes`:
  // those that may be candidates or take pods; `leaving`: those that are being deleted.
  void update(Snapshot snapshot, const std::vector<NodeView>& nodes, const CloudView& cloud,
              const std::set<std::string>& leaving, Instant now);
  void forget() { unneeded_.clear(); }

  struct InProgress {
    int32_t empty = 0;
    int32_t drained = 0;
    std::map<std::string, int32_t> by_group = {};
  };
  // Those that have been unneeded for long enough, within the budgets of what may go at once.
  std::vector<Removal> due(const CloudView& cloud, const InProgress& progress, Instant now) const;
  bool has_candidates() const { return has_candidates_; }

 private:
  struct Unneeded {
    Removal removal;
    Instant since;
  };

  std::vector<Place> candidates(const Snapshot& snapshot, const std::vector<NodeView>& nodes,
                                const CloudView& cloud, const std::set<std::string>& leaving,
                                Instant now);
  bool is_underused(const Place& place) const;
  size_t most_unneeded() const;

  const Options& options_;
  std::map<std::string, Unneeded> unneeded_;
  std::map<std::string, Instant> unremovable_until_;
  Hints hints_;
  bool has_candidates_ = false;
  Instant updated_;
  Duration least_interval_ = options_.scale_down_unneeded_time;
};

// The larger share of its cores and its memory that is requested; of its GPUs, if it has any.
double utilisation_of(const Place& place, bool ignore_daemons);

}  // namespace spillway::scaler
