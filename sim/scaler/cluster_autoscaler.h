// ClusterAutoscaler: the model at work. It asks the cloud what there is, in the order in which the
// real one does, lets the Mind decide, does it, and sleeps for the scan interval. Killed like any
// process: everything that it knows is gone with it.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "host/alarm.h"
#include "host/lifeline.h"
#include "host/loop.h"
#include "host/random.h"
#include "sim/scaler/mind.h"
#include "sim/scaler/ports.h"

namespace spillway::scaler {

class ClusterAutoscaler {
 public:
  // What is asked, for whoever wants to watch; empty: nobody.
  using Watcher = std::function<void(const Action&, const Outcome&)>;

  ClusterAutoscaler(host::Loop& loop, host::Random& random, Cloud& cloud, Cluster& cluster,
                    Options options, Watcher watcher = {});

  void start();
  // With frequent loops: the scheduler has found no node for a pod.
  void pod_is_unschedulable();
  int64_t loops() const { return loops_; }  // that came to their end

 private:
  using Question = std::function<void(Done)>;

  void scan();
  void ask_in_turn(std::deque<Question> questions, std::function<void()> then);
  void on_groups(Result<std::vector<GroupView>> groups);
  std::deque<Question> questions_on_nodes();
  std::deque<Question> questions_on_groups();
  std::deque<Question> questions_on_instances();
  std::deque<Question> questions_on_templates();
  Question ask_group_of(const demand::NodeRef& node);
  void decide();
  void next_action();
  void perform(const Action& action, const std::function<void(Outcome)>& then);
  void step_deletions();
  void wake_for_deletions();
  void finish();

  host::Loop& loop_;
  Cloud& cloud_;
  Cluster& cluster_;
  Mind mind_;
  Watcher watcher_;
  host::Alarm deletions_alarm_;
  ClusterView seen_;
  CloudView view_;
  bool is_scanning_ = false;
  bool is_wanted_ = false;  // another loop, at once
  bool was_productive_ = false;
  int64_t loops_ = 0;
  int64_t sleeps_ = 0;  // which one is the last
  host::Lifeline life_;
};

}  // namespace spillway::scaler
