#include "embedded/deployments.h"

#include <algorithm>

#include <fmt/format.h>

#include "embedded/budgets.h"
#include "embedded/document.h"

namespace spillway::embedded {
namespace {

using model::integer_node;
using model::Node;
using model::put;
using model::text_node;

constexpr std::string_view k_hash = "pod-template-hash";

const Node& template_of(const Node& document) {
  static const Node k_nothing = model::object_node();
  const Node* found = model::look(document, {"spec", "template"});
  return found == nullptr ? k_nothing : *found;
}

// FNV-1a; letters as Kubernetes makes names of.
std::string hash_of(const Node& shape) {
  uint64_t hash = 14695981039346656037ULL;
  for (const char c : model::to_json(shape)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  constexpr std::string_view k_letters = "bcdfghjklmnpqrstvwxz2456789";
  std::string text;
  for (int i = 0; i < 9; ++i, hash /= k_letters.size()) text += k_letters[hash % k_letters.size()];
  return text;
}

// But for the label that tells sets apart.
bool has_template(const Object& set, const Node& wanted) {
  Node shape = template_of(set.document());
  model::erase(model::ensure(shape, {"metadata", "labels"}), k_hash);
  Node other = wanted;
  model::ensure(other, {"metadata", "labels"});
  return model::same(shape, other);
}

int64_t count_at(const Object& set, model::Path path) {
  return model::integer_at(set.document(), path);
}

// What may be missing is rounded down, what may be more, up.
int64_t rounded_down(const Node* number, int64_t whole) {
  if (number == nullptr || number->kind == Node::Kind::integer) return scaled(number, whole);
  return scaled(number, 100) * whole / 100;
}

}  // namespace

Deployments::Deployments(Objects& objects, host::Loop& loop)
    : objects_(objects), turn_(loop, [this] { work(); }) {
  objects_.table.listen([this](const Change& change) {
    const Object& object = *change.object;
    if (object.kind == &objects_.registry.built_in("deployments", "apps")) {
      by_uid_[object.uid] = object.key;
      if (change.type == Change::Type::deleted) by_uid_.erase(object.uid);
      changed_.insert(object.key);
      return turn_.soon();
    }
    if (object.kind != &objects_.registry.built_in("replicasets", "apps")) return;
    for (const std::string& owner : object.owners) {
      const auto found = by_uid_.find(owner);
      if (found == by_uid_.end()) continue;
      changed_.insert(found->second);
      turn_.soon();
    }
  });
}

void Deployments::work() {
  for (const Key& key : std::exchange(changed_, {})) {
    const ObjectPtr object =
        objects_.table.find(objects_.registry.built_in("deployments", "apps"), key);
    if (object != nullptr) reconcile(*object);
  }
}

std::vector<ObjectPtr> Deployments::sets_of(const Object& deployment) const {
  std::vector<ObjectPtr> sets;
  const Shelf& shelf = objects_.table.shelf(objects_.registry.built_in("replicasets", "apps"));
  for (auto at = shelf.lower_bound({deployment.key.space, ""});
       at != shelf.end() && at->first.space == deployment.key.space; ++at) {
    const auto& owners = at->second->owners;
    if (std::find(owners.begin(), owners.end(), deployment.uid) != owners.end()) {
      sets.push_back(at->second);
    }
  }
  return sets;
}

void Deployments::reconcile(const Object& deployment) {
  const Node document = deployment.document();
  if (is_being_deleted(document)) return;
  const ObjectPtr newest = ensure_set(deployment, document, sets_of(deployment));
  if (newest == nullptr) return;
  if (!model::boolean_at(document, {"spec", "paused"}))
    roll(document, *newest, sets_of(deployment));
  write_status(deployment, newest->key);
}

ObjectPtr Deployments::ensure_set(const Object& deployment, const Node& document,
                                  const std::vector<ObjectPtr>& sets) {
  const Node& shape = template_of(document);
  for (const ObjectPtr& set : sets) {
    if (has_template(*set, shape)) return set;
  }
  const std::string hash = hash_of(shape);
  Node set = model::object_node();
  // One after the other: adding a member to `set` moves those that it has.
  Node& spec = model::ensure(set, {"spec"});
  put(spec, "replicas", integer_node(0));
  put(spec, "selector", *model::look(document, {"spec", "selector"}));
  put(spec, "template", shape);
  put(model::ensure(spec, {"selector", "matchLabels"}), k_hash, text_node(hash));
  Node& labels = model::ensure(spec, {"template", "metadata", "labels"});
  put(labels, k_hash, text_node(hash));
  const Node all_labels = labels;
  Node& metadata = model::ensure(set, {"metadata"});
  put(metadata, "name", text_node(deployment.key.name + "-" + hash));
  put(metadata, "namespace", text_node(deployment.key.space));
  put(metadata, "labels", all_labels);
  put(metadata, "ownerReferences", model::array_node())
      .items.push_back(owner_reference(deployment));
  put(model::ensure(metadata, {"annotations"}), "deployment.kubernetes.io/revision",
      text_node(std::to_string(sets.size() + 1)));
  auto made = objects_.create(objects_.registry.built_in("replicasets", "apps"), std::move(set));
  return made ? *made : nullptr;
}

void Deployments::roll(const Node& document, const Object& newest,
                       const std::vector<ObjectPtr>& sets) {
  const int64_t wanted = model::integer_at(document, {"spec", "replicas"}, 1);
  const bool recreates = model::text_at(document, {"spec", "strategy", "type"}) == "Recreate";
  const Node* rolling = model::look(document, {"spec", "strategy", "rollingUpdate"});
  const auto bound = [&](std::string_view key) {
    return rolling == nullptr ? nullptr : model::look(*rolling, {key});
  };
  const int64_t surge = recreates ? 0 : scaled(bound("maxSurge"), wanted);
  int64_t missing = recreates ? wanted : rounded_down(bound("maxUnavailable"), wanted);
  if (surge == 0 && missing == 0) missing = 1;
  int64_t old_pods = 0;
  int64_t available = 0;
  for (const ObjectPtr& set : sets) {
    available += count_at(*set, {"status", "availableReplicas"});
    if (set->uid == newest.uid) continue;
    old_pods += std::max(count_at(*set, {"spec", "replicas"}),
                         recreates ? count_at(*set, {"status", "replicas"}) : 0);
  }
  const int64_t present = count_at(newest, {"spec", "replicas"});
  const int64_t room = recreates ? (old_pods > 0 ? 0 : wanted) : wanted + surge - old_pods;
  scale(newest, std::max(std::min(wanted, room), std::min(present, wanted)));
  int64_t may_go = recreates ? old_pods : available - (wanted - missing);
  for (const ObjectPtr& set : sets) {
    if (set->uid == newest.uid) continue;
    const int64_t has = count_at(*set, {"spec", "replicas"});
    // Those that do not work may go in any case.
    const int64_t idle =
        std::max<int64_t>(0, has - count_at(*set, {"status", "availableReplicas"}));
    const int64_t going = std::clamp<int64_t>(may_go + idle, 0, has);
    scale(*set, has - going);
    may_go -= std::max<int64_t>(0, going - idle);
  }
}

void Deployments::scale(const Object& set, int64_t replicas) {
  objects_.change(*set.kind, set.key, [&](Node& document) {
    put(model::ensure(document, {"spec"}), "replicas", integer_node(replicas));
  });
}

void Deployments::write_status(const Object& deployment, const Key& newest) {
  int64_t all = 0;
  int64_t ready = 0;
  int64_t updated = 0;
  for (const ObjectPtr& set : sets_of(deployment)) {
    all += count_at(*set, {"status", "replicas"});
    ready += count_at(*set, {"status", "readyReplicas"});
    if (set->key == newest) updated = count_at(*set, {"status", "replicas"});
  }
  objects_.change(*deployment.kind, deployment.key, [&](Node& document) {
    const Instant now = objects_.clock.now();
    const int64_t wanted = model::integer_at(document, {"spec", "replicas"}, 1);
    Node& status = model::ensure(document, {"status"});
    put(status, "observedGeneration",
        integer_node(model::integer_at(document, {"metadata", "generation"})));
    put(status, "replicas", integer_node(all));
    put(status, "updatedReplicas", integer_node(updated));
    put(status, "readyReplicas", integer_node(ready));
    put(status, "availableReplicas", integer_node(ready));
    put(status, "unavailableReplicas", integer_node(std::max<int64_t>(0, wanted - ready)));
    const Node* rolling =
        model::look(document, {"spec", "strategy", "rollingUpdate", "maxUnavailable"});
    const bool is_available = ready >= wanted - rounded_down(rolling, wanted);
    set_condition(
        document,
        {.type = "Available",
         .status = is_available ? "True" : "False",
         .reason = is_available ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
         .message = is_available ? "Deployment has minimum availability."
                                 : "Deployment does not have minimum availability."},
        now);
    const bool is_done = updated == wanted && ready == wanted && all == wanted;
    set_condition(
        document,
        {.type = "Progressing",
         .status = "True",
         .reason = is_done ? "NewReplicaSetAvailable" : "ReplicaSetUpdated",
         .message = fmt::format("ReplicaSet \"{}\" {}", newest.name,
                                is_done ? "has successfully progressed." : "is progressing.")},
        now);
  });
}

}  // namespace spillway::embedded
