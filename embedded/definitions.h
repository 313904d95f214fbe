// Definitions: custom resource definitions: a new one adds its kind, a deleted one takes its
// objects with it.
#pragma once

#include <set>

#include "embedded/objects.h"
#include "embedded/turn.h"

namespace spillway::embedded {

class Definitions {
 public:
  Definitions(Objects& objects, host::Loop& loop);

 private:
  void work();
  void establish(const Key& key, const model::Node& definition);
  void clean_up(const Key& key, const model::Node& definition);

  Objects& objects_;
  std::set<Key> changed_;
  std::set<const Kind*> ending_;
  Turn turn_;
};

}  // namespace spillway::embedded
