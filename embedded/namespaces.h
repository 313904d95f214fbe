// Namespaces: each gets its default service account; one that is being deleted is emptied, and goes
// when nothing is left in it.
#pragma once

#include <set>
#include <string>

#include "embedded/objects.h"
#include "embedded/turn.h"

namespace spillway::embedded {

class Namespaces {
 public:
  Namespaces(Objects& objects, host::Loop& loop);

 private:
  void work();
  void furnish(const std::string& space);
  void empty(const std::string& space);

  Objects& objects_;
  std::set<std::string> changed_;
  std::set<std::string> ending_;
  Turn turn_;
};

}  // namespace spillway::embedded
