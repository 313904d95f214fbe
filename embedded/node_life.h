// NodeLife: judges nodes by their heartbeats, and says so: a node that was silent for too long is
// unknown, one that is not ready or cordoned is tainted, and pods that do not tolerate that are
// deleted, now or after the time that they do. Pods of nodes that are gone are collected.
#pragma once

#include <map>
#include <string>

#include "embedded/fitting.h"
#include "embedded/objects.h"
#include "embedded/turn.h"

namespace spillway::embedded {

struct NodeLifeOptions {
  Duration look_every = seconds(5);
  Duration grace = seconds(50);  // of silence; the default of kube-controller-manager since 1.32
  Duration pods_outlive = seconds(60);  // their node; then they are collected
};

class NodeLife {
 public:
  NodeLife(Objects& objects, host::Loop& loop, NodeLifeOptions options);

 private:
  void work();
  void look_later();
  void judge(const std::string& name);
  void taint(const std::string& name);
  void evict(const std::string& name);
  void mark_pods_unready(const std::string& name);
  void collect_pods();

  Objects& objects_;
  host::Loop& loop_;
  NodeLifeOptions options_;
  std::map<std::string, Instant> heard_;  // by the loop's clock: skew does not kill nodes
  std::map<std::string, Instant> gone_;   // nodes that are not there, though pods are bound to them
  bool is_looking_ = false;
  bool is_round_ = false;
  Turn turn_;
  host::Lifeline lifeline_;
};

}  // namespace spillway::embedded
