// Kubelets: of all nodes that have one. They report for their nodes (a Lease each ten seconds, the
// node's conditions each five minutes and when they begin), and let the pods there live: start, be
// ready, end by themselves, and go when they are told to. How fast: options, and the annotations of
// annotations.h.
#pragma once

#include <map>
#include <set>
#include <string>

#include "embedded/objects.h"
#include "embedded/turn.h"

namespace spillway::embedded {

struct KubeletOptions {
  Duration heartbeat_every = seconds(10);
  Duration status_every = minutes(5);
  Duration start_after{};  // from being bound to running
  Duration stop_after{};   // from being told to stop; never longer than the pod's grace
};

class Kubelets {
 public:
  Kubelets(Objects& objects, host::Loop& loop, KubeletOptions options);

 private:
  struct Running {  // one pod, as its kubelet remembers it
    std::string uid;
    bool is_starting = false;
    int64_t grace = -1;  // seconds that it has for stopping; -1: nobody told it to
  };
  struct NodeState {
    bool is_on = false;
    int64_t number = 0;  // for addresses
    int64_t pods = 0;    // that were started here, ever
    Instant reported{};
  };

  void hear_node(const Change& change);
  void work();
  void look_at(const Key& key);
  void start(const Key& key, const std::string& uid);
  void finish(const Key& key, const std::string& uid);
  void stop(const Key& key, const std::string& uid);
  void beat();
  void report(const std::string& node);
  void renew_lease(const std::string& node);
  void later(Duration delay, const Key& key, const std::string& uid,
             void (Kubelets::*what)(const Key&, const std::string&));
  ObjectPtr find_pod(const Key& key, const std::string& uid) const;
  bool is_on(const std::string& node) const;

  Objects& objects_;
  host::Loop& loop_;
  KubeletOptions options_;
  std::map<std::string, NodeState> nodes_;
  std::map<Key, Running> running_;
  std::set<Key> changed_;
  std::set<std::string> begun_;  // nodes whose kubelet was just switched on
  int64_t next_number_ = 0;
  bool is_beating_ = false;
  Turn turn_;
  host::Lifeline lifeline_;
};

}  // namespace spillway::embedded
