#include "support/shelf.h"

#include "model/tree.h"

namespace spillway::test {

using model::Node;
using model::text_at;
using model::text_node;

bool Shelf::is_deleted(const Node& object) {
  return !text_at(object, {"metadata", "deletionTimestamp"}).empty();
}

Node* Shelf::find(const Key& key) {
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : &found->second;
}

void Shelf::touch(Node& object) {
  model::put(model::ensure(object, {"metadata"}), "resourceVersion",
             text_node(fmt::format("{}", ++versions_)));
}

void Shelf::put(const Key& key, Node object) {
  model::put(model::ensure(object, {"metadata"}), "uid",
             text_node(fmt::format("uid-{}", ++versions_)));
  touch(object);
  objects_.insert_or_assign(key, std::move(object));
}

std::vector<Shelf::Key> Shelf::all(const std::string& plural) const {
  std::vector<Key> keys;
  for (const auto& [key, object] : objects_) {
    if (std::get<0>(key) == plural) keys.push_back(key);
  }
  return keys;
}

void Shelf::create(const fabric::Create& deed) {
  const bool has_space = deed.at.space.empty() || find({"namespaces", "", deed.at.space});
  if (has_space && find(key(deed.at)) == nullptr) put(key(deed.at), deed.object);
}

bool Shelf::merge(const fabric::Merge& deed) {
  Node* found = find(key(deed.at));
  if (found == nullptr) return true;
  const auto version = text_at(deed.patch, {"metadata", "resourceVersion"});
  if (!version.empty() && version != text_at(*found, {"metadata", "resourceVersion"})) return false;
  model::merge(*found, deed.patch);
  touch(*found);
  const bool is_free = model::items_at(*found, {"metadata", "finalizers"}).empty();
  if (is_deleted(*found) && is_free) erase(key(deed.at));
  return true;
}

void Shelf::remove(const fabric::Remove& deed) {
  Node* found = find(key(deed.at));
  if (found == nullptr) return;
  if (!deed.uid.empty() && text_at(*found, {"metadata", "uid"}) != deed.uid) return;
  if (model::items_at(*found, {"metadata", "finalizers"}).empty()) return erase(key(deed.at));
  model::put(model::ensure(*found, {"metadata"}), "deletionTimestamp",
             text_node("2027-01-15T08:00:00Z"));
  touch(*found);
}

}  // namespace spillway::test
