#include "embedded/scheduler.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "embedded/document.h"

namespace spillway::embedded {
namespace {

using model::Node;

bool is_over(const Object& pod) {
  const std::string* phase = find_pair(pod.fields, "status.phase");
  return phase != nullptr && (*phase == "Succeeded" || *phase == "Failed");
}

const std::string& field(const Object& object, std::string_view name) {
  static const std::string k_none;
  const std::string* value = find_pair(object.fields, name);
  return value == nullptr ? k_none : *value;
}

// In thousandths of what the node has, of the resource that is scarcest after placing.
int64_t room_left(const PodView& pod, const NodeLoad& load) {
  int64_t least = 1000;
  for (const std::string_view resource : {"cpu", "memory"}) {
    const auto has = load.node.allocatable.find(resource);
    if (has == load.node.allocatable.end() || has->second <= 0) continue;
    const auto used = load.used.find(resource);
    const auto wanted = pod.requests.find(resource);
    const int64_t taken = try_add(used == load.used.end() ? 0 : used->second,
                                  wanted == pod.requests.end() ? 0 : wanted->second)
                              .value_or(INT64_MAX);
    least = std::min(least, (has->second - taken) / std::max<int64_t>(1, has->second / 1000));
  }
  return least;
}

}  // namespace

Scheduler::Scheduler(Objects& objects, host::Loop& loop)
    : objects_(objects), turn_(loop, [this] { work(); }) {
  objects_.table.listen([this](const Change& change) {
    if (change.object->kind == &objects_.registry.built_in("nodes")) hear_node(change);
    if (change.object->kind == &objects_.registry.built_in("pods")) hear_pod(change);
  });
}

void Scheduler::hear_node(const Change& change) {
  const std::string& name = change.object->key.name;
  if (change.type == Change::Type::deleted) {
    // Its pods are still bound to it, and count again should it come back.
    loads_.by_node[name].node = NodeView{};
    return;
  }
  NodeView view = view_node(change.object->document());
  NodeLoad& load = loads_.by_node[name];
  if (load.node == view) return;  // a heartbeat
  load.node = std::move(view);
  if (!waiting_.empty()) turn_.soon();
}

void Scheduler::take_from(const Key& pod, const std::string& node) {
  NodeLoad& load = loads_.by_node[node];
  const auto found = load.pods.find(pod);
  if (found == load.pods.end()) return;
  subtract(load.used, found->second.requests);
  if (!found->second.apart.empty()) --loads_.with_apart;
  load.pods.erase(found);
  if (!waiting_.empty()) turn_.soon();
}

void Scheduler::hear_pod(const Change& change) {
  const Object& pod = *change.object;
  const std::string& node = field(pod, "spec.nodeName");
  const bool is_gone = change.type == Change::Type::deleted || is_over(pod);
  if (const auto bound = bound_.find(pod.key);
      bound != bound_.end() && (is_gone || bound->second != node)) {
    take_from(pod.key, bound->second);
    bound_.erase(bound);
  }
  if (is_gone || !node.empty()) {
    if (const auto came = came_.find(pod.key); came != came_.end()) {
      waiting_.erase(came->second);
      came_.erase(came);
    }
  }
  if (is_gone) return;
  if (!node.empty()) {
    if (bound_.contains(pod.key)) return;
    NodeLoad& load = loads_.by_node[node];
    PodView view = view_pod(pod.document());
    add(load.used, view.requests);
    if (!view.apart.empty()) ++loads_.with_apart;
    load.pods.emplace(pod.key, std::move(view));
    bound_[pod.key] = node;
    return;
  }
  if (came_.contains(pod.key) || field(pod, "spec.schedulerName") != "default-scheduler") return;
  came_[pod.key] = next_;
  waiting_[next_++] = pod.key;
  turn_.soon();
}

void Scheduler::work() {
  const std::map<int64_t, Key> waiting = waiting_;
  for (const auto& [came, key] : waiting) place(key);
}

bool Scheduler::place(const Key& key) {
  const ObjectPtr object = objects_.table.find(objects_.registry.built_in("pods"), key);
  if (object == nullptr) return false;
  const Node document = object->document();
  if (is_being_deleted(document)) return false;
  if (!model::items_at(document, {"spec", "schedulingGates"}).empty()) return false;
  const PodView pod = view_pod(document);
  const NodeLoad* best = nullptr;
  std::pair<int64_t, int64_t> most;  // room, and as few pods as possible
  size_t nodes = 0;
  std::map<std::string, int> against;
  for (const auto& [name, load] : loads_.by_node) {
    if (load.node.name.empty()) continue;  // gone
    ++nodes;
    const auto reasons = reasons_against(pod, load, loads_);
    for (const std::string& reason : reasons) ++against[reason];
    if (!reasons.empty()) continue;
    const std::pair room(room_left(pod, load), -std::ssize(load.pods));
    if (best != nullptr && room <= most) continue;
    best = &load;
    most = room;
  }
  if (best == nullptr) {
    report(key, explain(against, nodes));
    return false;
  }
  bind_pod(objects_, key, best->node.name);
  return true;
}

void Scheduler::report(const Key& key, const std::string& why) {
  objects_.change(objects_.registry.built_in("pods"), key, [&](Node& document) {
    set_condition(
        document,
        {.type = "PodScheduled", .status = "False", .reason = "Unschedulable", .message = why},
        objects_.clock.now());
  });
}

}  // namespace spillway::embedded
