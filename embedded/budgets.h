// Budgets: keeps the status of PodDisruptionBudgets: how many of their pods are healthy, and how
// many may be evicted now.
#pragma once

#include <set>

#include "embedded/objects.h"
#include "embedded/turn.h"

namespace spillway::embedded {

class Budgets {
 public:
  Budgets(Objects& objects, host::Loop& loop);

 private:
  void work();
  void count(const Object& budget);
  int64_t wanted_by_owners(const std::vector<ObjectPtr>& pods) const;

  Objects& objects_;
  std::set<std::string> changed_;  // namespaces
  Turn turn_;
};

// "50%" of `whole`, rounded up, or the number itself.
int64_t scaled(const model::Node* number, int64_t whole);

}  // namespace spillway::embedded
