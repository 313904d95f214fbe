// The objects of one small cluster, by place: created, merged and removed as an API server does.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "fabric/deed.h"

namespace spillway::test {

class Shelf {
 public:
  using Key = std::tuple<std::string, std::string, std::string>;  // plural, namespace, name

  static Key key(const fabric::Place& at) {
    return {std::string(at.kind.plural), at.space, at.name};
  }
  static bool is_deleted(const model::Node& object);
  model::Node* find(const Key& key);
  void put(const Key& key, model::Node object);  // gives it a uid and a version
  void touch(model::Node& object);
  void erase(const Key& key) { objects_.erase(key); }
  std::vector<Key> all(const std::string& plural) const;
  const std::map<Key, model::Node>& objects() const { return objects_; }

  void create(const fabric::Create& deed);
  bool merge(const fabric::Merge& deed);  // false: somebody was faster
  // What has finalizers is marked, and waits for Liqo.
  void remove(const fabric::Remove& deed);

 private:
  std::map<Key, model::Node> objects_;
  int64_t versions_ = 0;
};

}  // namespace spillway::test
