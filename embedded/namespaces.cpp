#include "embedded/namespaces.h"

#include "embedded/document.h"

namespace spillway::embedded {

using model::Node;

Namespaces::Namespaces(Objects& objects, host::Loop& loop)
    : objects_(objects), turn_(loop, [this] { work(); }) {
  objects_.table.listen([this](const Change& change) {
    const bool is_space = change.object->kind == &objects_.registry.built_in("namespaces");
    const std::string& space = is_space ? change.object->key.name : change.object->key.space;
    if (!is_space && !ending_.contains(space)) return;
    changed_.insert(space);
    turn_.soon();
  });
}

void Namespaces::work() {
  const Kind& spaces = objects_.registry.built_in("namespaces");
  for (const std::string& space : std::exchange(changed_, {})) {
    const ObjectPtr object = objects_.table.find(spaces, {"", space});
    if (object == nullptr) {
      ending_.erase(space);
    } else if (*find_pair(object->fields, "status.phase") == "Terminating") {
      ending_.insert(space);
      empty(space);
    } else {
      furnish(space);
    }
  }
}

void Namespaces::furnish(const std::string& space) {
  const Kind& accounts = objects_.registry.built_in("serviceaccounts");
  if (objects_.table.find(accounts, {space, "default"}) != nullptr) return;
  Node account = model::object_node();
  Node& metadata = model::ensure(account, {"metadata"});
  model::put(metadata, "name", model::text_node("default"));
  model::put(metadata, "namespace", model::text_node(space));
  (void)objects_.create(accounts, std::move(account));
}

void Namespaces::empty(const std::string& space) {
  bool is_empty = true;
  objects_.registry.for_each([&](const Kind& kind) {
    if (!kind.is_namespaced) return;
    const Shelf& shelf = objects_.table.shelf(kind);
    std::vector<Key> keys;
    for (auto at = shelf.lower_bound({space, ""}); at != shelf.end() && at->first.space == space;
         ++at) {
      keys.push_back(at->first);
    }
    for (const Key& key : keys) {
      const auto deleted = objects_.remove(kind, key);
      is_empty = is_empty && deleted && deleted->is_gone;
    }
  });
  if (!is_empty) return;  // what goes later tells us
  objects_.change(objects_.registry.built_in("namespaces"), {"", space}, [](Node& document) {
    model::erase(model::ensure(document, {"spec"}), "finalizers");
  });
}

}  // namespace spillway::embedded
