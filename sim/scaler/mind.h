// Mind: the Cluster Autoscaler's loop, without clock, thread or connection.
//
//   begin(cluster, cloud, now)
//   while (action = next(now)) told(*action, outcome of it, now)
//
// Order, as in RunOnce of its core: what was seen → instances that never became nodes → health →
// failed instances → sizes → pods that fit nowhere → scale-up → nodes that nobody needs →
// scale-down. Beside it, at any time: deletions().
//
// It is written from the source of 1.30.4 and 1.35.2 (Options::version says what differs). Not
// modelled: node autoprovisioning, balancing of similar groups, resource limits in cores and
// memory, PodDisruptionBudgets other than by refused evictions, priorities, ProvisioningRequests,
// soft taints (--max-bulk-soft-taint-count=0).
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/random.h"
#include "sim/scaler/actions.h"
#include "sim/scaler/deletions.h"
#include "sim/scaler/expanders.h"
#include "sim/scaler/registry.h"
#include "sim/scaler/scale_down.h"
#include "sim/scaler/snapshot.h"

namespace spillway::scaler {

class Mind {
 public:
  Mind(Options options, host::Random& random);

  // What must be known of the cloud before a loop begins.
  bool wants_template(const std::string& group, const ClusterView& cluster,
                      const CloudView& cloud) const;
  bool wants_instances(const std::string& group, Instant now) const;
  void saw_instances(const std::string& group, const std::vector<Instance>& instances, Instant now);
  const std::vector<Instance>& instances_of(const std::string& group) const;

  void begin(ClusterView cluster, CloudView cloud, Instant now);
  std::optional<Action> next(Instant now);  // none: the loop is over
  void told(const Action& action, const Outcome& outcome, Instant now);
  // The cloud could not be asked: the loop does not happen, and nothing counts as unneeded.
  void failed();

  Deletions& deletions() { return deletions_; }
  const Options& options() const { return options_; }
  // With frequent loops: whether the next one begins at once.
  bool was_productive() const { return was_productive_; }

 private:
  enum class Phase : uint8_t {
    start,
    overdue,
    health,
    sizes,
    pods,
    quotes,
    down,
    over,
  };
  struct Seen {
    std::vector<Instance> instances;
    Instant at;
  };

  void advance(Instant now);
  void remember_templates();
  void untaint_all();
  void ask_overdue();
  void ask_failures();
  void ask_sizes(Instant now);
  void look_at_pods(Instant now);
  void add_upcoming();
  std::vector<PodView> pods_to_help(Instant now);
  static bool are_all_new(const std::vector<PodView>& pods, Instant now);
  void find_options(const std::vector<PodView>& pods, Instant now);
  void ask_quotes();
  void on_quoted(const PodView& pod, const Outcome& outcome);
  void on_chosen(const Outcome& outcome);
  void ask_increase();
  void look_for_unneeded(Instant now);
  bool is_cooling_down(Instant now) const;
  void on_increased(const Action& action, const Outcome& outcome, Instant now);
  void on_tainted(const Action& action, const Outcome& outcome, Instant now);
  void remove_nodes(const std::string& group, std::vector<demand::NodeRef> nodes);

  Options options_;
  host::Random& random_;
  Registry registry_;
  ScaleDown scale_down_;
  Deletions deletions_;
  Hints hints_;
  std::map<std::string, NodeView> templates_;  // of groups that ever had a node
  std::map<std::string, Seen> seen_;
  Instant last_up_;
  Instant last_delete_;
  Instant last_failure_;
  bool has_begun_ = false;  // since this process started

  // of this loop
  ClusterView cluster_;
  CloudView cloud_;
  Snapshot snapshot_;
  std::map<std::string, NodeView> nodes_of_groups_;
  std::vector<Option> options_found_;
  Quotes quotes_;
  std::vector<Removal> removals_;  // being tainted
  std::vector<NodeView> tainted_;
  std::deque<Action> asked_;
  Phase phase_ = Phase::over;
  bool may_scale_down_ = true;
  bool is_done_ = false;  // something of this phase was done
  int32_t ready_ = 0;
  int32_t upcoming_ = 0;
  size_t known_nodes_ = 0;
  bool was_productive_ = false;
};

}  // namespace spillway::scaler
