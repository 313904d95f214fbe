// A clock that runs fast, for the model of the Cluster Autoscaler: its flags and its constants stay
// what they are, and an hour of them passes in a minute or two. Whoever it speaks with lives on
// the real clock, so what they take counts for as much longer.
#pragma once

#include <utility>

#include "host/loop.h"
#include "sim/scaler/ports.h"

namespace spillway::cli {

struct FastTime {
  Instant begun;  // when both clocks showed the same
  int32_t speed = 1;

  Instant at(Instant real) const { return begun + since_begun(real); }
  Duration since_begun(Instant real) const { return {(real - begun).ms * speed}; }
  Duration real(Duration fast) const { return {(fast.ms + speed - 1) / speed}; }
};

class FastLoop final : public host::Loop {
 public:
  FastLoop(host::Loop& loop, FastTime time) : loop_(loop), time_(time) {}

  Instant now() override { return time_.at(loop_.now()); }
  void post(host::Task task) override { loop_.post(std::move(task)); }
  void after(Duration delay, host::Task task) override {
    loop_.after(time_.real(delay), std::move(task));
  }

 private:
  host::Loop& loop_;
  FastTime time_;
};

// A cluster whose objects were created on that clock.
class FastCluster final : public scaler::Cluster {
 public:
  FastCluster(scaler::Cluster& cluster, FastTime time) : cluster_(cluster), time_(time) {}

  scaler::ClusterView look() const override {
    scaler::ClusterView view = cluster_.look();
    for (scaler::NodeView& node : view.nodes) node.created = time_.at(node.created);
    for (scaler::PodView& pod : view.pods) pod.created = time_.at(pod.created);
    return view;
  }
  void taint(const std::string& node, scaler::Done done) override {
    cluster_.taint(node, std::move(done));
  }
  void untaint(const std::string& node, scaler::Done done) override {
    cluster_.untaint(node, std::move(done));
  }
  void evict(const scaler::PodView& pod, scaler::Done done) override {
    cluster_.evict(pod, std::move(done));
  }

 private:
  scaler::Cluster& cluster_;
  FastTime time_;
};

}  // namespace spillway::cli
