// Deployments: one replica set for each template; the one of the present template grows while the
// others shrink, within maxSurge and maxUnavailable.
#pragma once

#include <map>
#include <set>
#include <string>

#include "embedded/objects.h"
#include "embedded/turn.h"

namespace spillway::embedded {

class Deployments {
 public:
  Deployments(Objects& objects, host::Loop& loop);

 private:
  void work();
  void reconcile(const Object& deployment);
  std::vector<ObjectPtr> sets_of(const Object& deployment) const;
  ObjectPtr ensure_set(const Object& deployment, const model::Node& document,
                       const std::vector<ObjectPtr>& sets);
  void roll(const model::Node& document, const Object& newest, const std::vector<ObjectPtr>& sets);
  void scale(const Object& set, int64_t replicas);
  void write_status(const Object& deployment, const Key& newest);

  Objects& objects_;
  std::map<std::string, Key> by_uid_;
  std::set<Key> changed_;
  Turn turn_;
};

}  // namespace spillway::embedded
