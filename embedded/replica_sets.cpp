#include "embedded/replica_sets.h"

#include <algorithm>

#include "embedded/document.h"

namespace spillway::embedded {
namespace {

using model::integer_node;
using model::Node;
using model::put;

// In one turn; more follow in the next, so that others get a word in.
constexpr int64_t k_most_at_once = 250;
// Of one set: a slip of the pen shall not fill the memory.
constexpr int64_t k_most_pods = 20'000;

bool is_active(const Object& pod) {
  const std::string& phase = *find_pair(pod.fields, "status.phase");
  return phase != "Succeeded" && phase != "Failed" && !pod.is_deleting;
}

// Who goes first: those without a node, those that do not run, those that are not ready, the
// newest.
int worth(const Object& pod) {
  if (find_pair(pod.fields, "spec.nodeName")->empty()) return 0;
  if (*find_pair(pod.fields, "status.phase") != "Running") return 1;
  return pod.is_ready ? 3 : 2;
}

}  // namespace

ReplicaSets::ReplicaSets(Objects& objects, host::Loop& loop)
    : objects_(objects), turn_(loop, [this] { work(); }) {
  objects_.table.listen([this](const Change& change) { hear(change); });
}

void ReplicaSets::hear(const Change& change) {
  const Object& object = *change.object;
  const bool is_gone = change.type == Change::Type::deleted;
  if (object.kind == &objects_.registry.built_in("replicasets", "apps")) {
    if (is_gone) {
      by_uid_.erase(object.uid);
      return;
    }
    by_uid_[object.uid] = object.key;
    changed_.insert(object.key);
    return turn_.soon();
  }
  if (object.kind != &objects_.registry.built_in("pods")) return;
  for (const std::string& owner : object.owners) {
    std::set<Key>& its = pods_[owner];
    if (is_gone) {
      its.erase(object.key);
      if (its.empty()) pods_.erase(owner);
    } else {
      its.insert(object.key);
    }
    const auto set = by_uid_.find(owner);
    if (set == by_uid_.end()) continue;
    changed_.insert(set->second);
    turn_.soon();
  }
}

void ReplicaSets::work() {
  for (const Key& key : std::exchange(changed_, {})) {
    const ObjectPtr set =
        objects_.table.find(objects_.registry.built_in("replicasets", "apps"), key);
    if (set != nullptr) reconcile(*set);
  }
}

void ReplicaSets::reconcile(const Object& set) {
  const Node document = set.document();
  std::vector<ObjectPtr> active;
  if (const auto found = pods_.find(set.uid); found != pods_.end()) {
    for (const Key& key : found->second) {
      const ObjectPtr pod = objects_.table.find(objects_.registry.built_in("pods"), key);
      if (pod != nullptr && is_active(*pod)) active.push_back(pod);
    }
  }
  write_status(set, active);
  if (is_being_deleted(document)) return;
  const int64_t missing =
      std::min(model::integer_at(document, {"spec", "replicas"}, 1), k_most_pods) -
      std::ssize(active);
  if (missing > 0) add_pods(set, document, std::min(missing, k_most_at_once));
  if (missing < 0) remove_pods(std::move(active), std::min(-missing, k_most_at_once));
}

void ReplicaSets::add_pods(const Object& set, const Node& document, int64_t count) {
  Node pod = model::object_node();
  if (const Node* shape = model::look(document, {"spec", "template"})) {
    for (const Node& member : shape->items) put(pod, member.key, member);
  }
  Node& metadata = model::ensure(pod, {"metadata"});
  put(metadata, "generateName", model::text_node(set.key.name + "-"));
  put(metadata, "namespace", model::text_node(set.key.space));
  put(metadata, "ownerReferences", model::array_node()).items.push_back(owner_reference(set));
  for (int64_t i = 0; i < count; ++i) {
    if (!objects_.create(objects_.registry.built_in("pods"), pod)) return;
  }
}

void ReplicaSets::remove_pods(std::vector<ObjectPtr> pods, int64_t count) {
  std::vector<std::pair<int, ObjectPtr>> ranked;
  for (ObjectPtr& pod : pods) ranked.emplace_back(worth(*pod), std::move(pod));
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second->version > b.second->version;
  });
  for (int64_t i = 0; i < count; ++i) {
    (void)objects_.remove(objects_.registry.built_in("pods"),
                          ranked[static_cast<size_t>(i)].second->key);
  }
}

void ReplicaSets::write_status(const Object& set, const std::vector<ObjectPtr>& pods) {
  const auto ready =
      std::count_if(pods.begin(), pods.end(), [](const ObjectPtr& pod) { return pod->is_ready; });
  objects_.change(*set.kind, set.key, [&](Node& document) {
    Node& status = model::ensure(document, {"status"});
    put(status, "replicas", integer_node(std::ssize(pods)));
    put(status, "fullyLabeledReplicas", integer_node(std::ssize(pods)));
    put(status, "readyReplicas", integer_node(ready));
    put(status, "availableReplicas", integer_node(ready));
    put(status, "observedGeneration",
        integer_node(model::integer_at(document, {"metadata", "generation"})));
  });
}

}  // namespace spillway::embedded
