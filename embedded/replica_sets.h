// ReplicaSets: keeps as many pods as each wants, and counts them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "embedded/objects.h"
#include "embedded/turn.h"

namespace spillway::embedded {

class ReplicaSets {
 public:
  ReplicaSets(Objects& objects, host::Loop& loop);

 private:
  void hear(const Change& change);
  void work();
  void reconcile(const Object& set);
  void add_pods(const Object& set, const model::Node& document, int64_t count);
  void remove_pods(std::vector<ObjectPtr> pods, int64_t count);
  void write_status(const Object& set, const std::vector<ObjectPtr>& pods);

  Objects& objects_;
  std::map<std::string, Key> by_uid_;
  std::map<std::string, std::set<Key>> pods_;  // by the uid of the set that controls them
  std::set<Key> changed_;
  Turn turn_;
};

}  // namespace spillway::embedded
