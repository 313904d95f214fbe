#include "embedded/garbage.h"

#include <algorithm>

#include "embedded/document.h"

namespace spillway::embedded {

using model::Node;

Garbage::Garbage(Objects& objects, host::Loop& loop)
    : objects_(objects), turn_(loop, [this] { work(); }) {
  objects_.table.listen([this](const Change& change) { hear(change); });
}

void Garbage::hear(const Change& change) {
  const Object& object = *change.object;
  const Place place{object.kind, object.key};
  const bool is_gone = change.type == Change::Type::deleted;
  if (change.before != nullptr) {
    for (const std::string& owner : change.before->owners) {
      const auto found = dependents_.find(owner);
      if (found == dependents_.end()) continue;
      found->second.erase(place);
      if (found->second.empty()) dependents_.erase(found);
      if (is_gone && !waiting_.empty()) turn_.soon();
    }
  }
  if (is_gone) {
    alive_.erase(object.uid);
    waiting_.erase(place);
    const auto found = dependents_.find(object.uid);
    if (found == dependents_.end()) return;
    suspects_.insert(found->second.begin(), found->second.end());
    return turn_.soon();
  }
  alive_.insert(object.uid);
  for (const std::string& owner : object.owners) dependents_[owner].insert(place);
  if (!object.owners.empty()) {
    suspects_.insert(place);
    turn_.soon();
  }
  const bool waits = object.text.find("\"foregroundDeletion\"") != std::string::npos ||
                     object.text.find("\"orphan\"") != std::string::npos;
  if (!waits) return;
  waiting_.insert(place);
  turn_.soon();
}

void Garbage::work() {
  for (const Place& place : std::exchange(suspects_, {})) collect(place);
  const std::set<Place> waiting = waiting_;
  for (const auto& [kind, key] : waiting) {
    const ObjectPtr owner = objects_.table.find(*kind, key);
    if (owner == nullptr) continue;
    const Node document = owner->document();
    const bool orphans = has_finalizer(document, "orphan");
    const bool is_foreground = has_finalizer(document, "foregroundDeletion");
    if (!is_being_deleted(document) || (!orphans && !is_foreground)) continue;
    if (!(orphans ? release_dependents(*owner) : delete_dependents(*owner))) continue;
    objects_.change(*kind, key, [&](Node& changed) {
      drop_finalizer(changed, orphans ? "orphan" : "foregroundDeletion");
    });
  }
}

bool Garbage::has_owner(const Object& object) const {
  return std::any_of(object.owners.begin(), object.owners.end(),
                     [&](const std::string& owner) { return alive_.contains(owner); });
}

void Garbage::collect(const Place& place) {
  const ObjectPtr object = objects_.table.find(*place.kind, place.key);
  if (object == nullptr || object->owners.empty() || has_owner(*object)) return;
  DeleteOptions options;
  options.uid = object->uid;
  (void)objects_.remove(*place.kind, place.key, options);
}

std::set<Garbage::Place> Garbage::dependents_of(const std::string& uid) const {
  const auto found = dependents_.find(uid);
  return found == dependents_.end() ? std::set<Place>{} : found->second;
}

bool Garbage::release_dependents(const Object& owner) {
  for (const auto& [kind, key] : dependents_of(owner.uid)) {
    objects_.change(*kind, key, [&](Node& document) {
      Node& metadata = model::ensure(document, {"metadata"});
      Node kept = model::array_node();
      for (const Node& reference : model::items_at(metadata, {"ownerReferences"})) {
        if (model::text_at(reference, {"uid"}) != owner.uid) kept.items.push_back(reference);
      }
      model::put(metadata, "ownerReferences", std::move(kept));
    });
  }
  return true;
}

// Those that do not block are deleted, too, but not waited for.
bool Garbage::delete_dependents(const Object& owner) {
  bool is_free = true;
  for (const auto& [kind, key] : dependents_of(owner.uid)) {
    const ObjectPtr dependent = objects_.table.find(*kind, key);
    if (dependent == nullptr) continue;
    const Node document = dependent->document();
    const auto& references = model::items_at(document, {"metadata", "ownerReferences"});
    const bool blocks = std::any_of(references.begin(), references.end(), [&](const Node& one) {
      return model::text_at(one, {"uid"}) == owner.uid &&
             model::boolean_at(one, {"blockOwnerDeletion"});
    });
    DeleteOptions options;
    options.propagation = "Foreground";
    const auto deleted = objects_.remove(*kind, key, options);
    is_free = is_free && (!blocks || (deleted && deleted->is_gone));
  }
  return is_free;
}

}  // namespace spillway::embedded
