// Scheduler: gives pods without a node one that fits (fitting.h), first come, first served, and
// says on the pod why there is none. It follows the table; nothing is read twice.
#pragma once

#include <map>
#include <set>

#include "embedded/fitting.h"
#include "embedded/objects.h"
#include "embedded/turn.h"

namespace spillway::embedded {

class Scheduler {
 public:
  Scheduler(Objects& objects, host::Loop& loop);

 private:
  void hear_node(const Change& change);
  void hear_pod(const Change& change);
  void take_from(const Key& pod, const std::string& node);
  void work();
  bool place(const Key& key);
  void report(const Key& key, const std::string& why);

  Objects& objects_;
  Loads loads_;
  std::map<Key, std::string> bound_;  // pods to nodes
  std::map<int64_t, Key> waiting_;    // by when they came
  std::map<Key, int64_t> came_;
  int64_t next_ = 0;
  Turn turn_;
};

}  // namespace spillway::embedded
