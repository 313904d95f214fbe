#include "embedded/node_life.h"

#include <algorithm>

#include "embedded/document.h"

namespace spillway::embedded {
namespace {

using model::Node;
using model::put;
using model::text_node;

constexpr std::string_view k_not_ready = "node.kubernetes.io/not-ready";
constexpr std::string_view k_unreachable = "node.kubernetes.io/unreachable";
constexpr std::string_view k_cordoned = "node.kubernetes.io/unschedulable";

struct WantedTaint {
  std::string_view key;
  std::string_view effect;
};

std::vector<WantedTaint> wanted_taints(const Node& node) {
  std::vector<WantedTaint> wanted;
  const Node* ready = find_condition(node, "Ready");
  const std::string_view status =
      ready == nullptr ? std::string_view("False") : model::text_at(*ready, {"status"});
  if (status != "True") {
    const std::string_view key = status == "Unknown" ? k_unreachable : k_not_ready;
    wanted.push_back({key, "NoSchedule"});
    wanted.push_back({key, "NoExecute"});
  }
  if (model::boolean_at(node, {"spec", "unschedulable"})) {
    wanted.push_back({k_cordoned, "NoSchedule"});
  }
  return wanted;
}

bool is_ours(std::string_view key) {
  return key == k_not_ready || key == k_unreachable || key == k_cordoned;
}

// Kubernetes changes NoExecute only when its controller comes round: a node that is Ready again
// keeps it for seconds.
bool waits_for_round(const Node& taint) {
  const std::string_view key = model::text_at(taint, {"key"});
  return (key == k_not_ready || key == k_unreachable) &&
         model::text_at(taint, {"effect"}) == "NoExecute";
}

Node taints_for(const Node& node, Instant now, bool is_round) {
  auto wanted = wanted_taints(node);
  if (!is_round) {
    std::erase_if(wanted, [](const WantedTaint& one) { return one.effect == "NoExecute"; });
  }
  Node taints = model::array_node();
  const auto& present = model::items_at(node, {"spec", "taints"});
  const auto is = [](const Node& taint, const WantedTaint& one) {
    return model::text_at(taint, {"key"}) == one.key &&
           model::text_at(taint, {"effect"}) == one.effect;
  };
  for (const Node& taint : present) {
    const bool stays = !is_ours(model::text_at(taint, {"key"})) ||
                       (!is_round && waits_for_round(taint)) ||
                       std::any_of(wanted.begin(), wanted.end(),
                                   [&](const WantedTaint& one) { return is(taint, one); });
    if (stays) taints.items.push_back(taint);
  }
  for (const WantedTaint& one : wanted) {
    if (std::any_of(present.begin(), present.end(), [&](const Node& t) { return is(t, one); })) {
      continue;
    }
    Node& taint = taints.items.emplace_back(model::object_node());
    put(taint, "key", text_node(one.key));
    put(taint, "effect", text_node(one.effect));
    put(taint, "timeAdded", text_node(stamp(now)));
  }
  return taints;
}

std::string beat_of(const Object& node) {
  const Node document = node.document();
  const Node* ready = find_condition(document, "Ready");
  return ready == nullptr ? std::string()
                          : std::string(model::text_at(*ready, {"lastHeartbeatTime"}));
}

// How long a pod may stay under this taint; -1: for ever.
int64_t tolerated_seconds(const std::vector<Toleration>& tolerations, const Taint& taint) {
  int64_t least = 0;
  bool any = false;
  for (const Toleration& one : tolerations) {
    if (!one.tolerates(taint)) continue;
    if (one.seconds < 0) {
      if (!any) least = -1;
    } else {
      least = any && least >= 0 ? std::min(least, one.seconds) : one.seconds;
    }
    any = true;
  }
  return any ? least : 0;
}

}  // namespace

NodeLife::NodeLife(Objects& objects, host::Loop& loop, NodeLifeOptions options)
    : objects_(objects), loop_(loop), options_(options), turn_(loop, [this] { work(); }) {
  objects_.table.listen([this](const Change& change) {
    const Kind* kind = change.object->kind;
    const bool is_node = kind == &objects_.registry.built_in("nodes");
    const bool is_lease = kind == &objects_.registry.built_in("leases", "coordination.k8s.io") &&
                          change.object->key.space == "kube-node-lease";
    if (!is_node && !is_lease) return;
    const std::string& name = change.object->key.name;
    if (is_lease) {
      heard_[name] = loop_.now();
      return;
    }
    if (change.type == Change::Type::deleted) {
      heard_.erase(name);
    } else if (change.before == nullptr || beat_of(*change.before) != beat_of(*change.object)) {
      heard_[name] = loop_.now();
    }
    turn_.soon();
  });
}

void NodeLife::work() {
  std::vector<std::string> names;
  for (const auto& [key, node] : objects_.table.shelf(objects_.registry.built_in("nodes"))) {
    names.push_back(key.name);
  }
  for (const std::string& name : names) {
    judge(name);
    taint(name);
    evict(name);
  }
  is_round_ = false;
  collect_pods();
  if (!names.empty() || !gone_.empty()) look_later();
}

void NodeLife::look_later() {
  if (is_looking_) return;
  is_looking_ = true;
  loop_.after(options_.look_every, lifeline_.guard([this] {
    is_looking_ = false;
    is_round_ = true;
    turn_.soon();
  }));
}

void NodeLife::judge(const std::string& name) {
  const auto heard = heard_.find(name);
  if (heard == heard_.end() || loop_.now() - heard->second <= options_.grace) return;
  const Kind& nodes = objects_.registry.built_in("nodes");
  const ObjectPtr object = objects_.table.find(nodes, {"", name});
  if (object == nullptr || has_condition(object->document(), "Ready", "Unknown")) return;
  objects_.change(nodes, {"", name}, [&](Node& node) {
    for (const std::string_view type : {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"}) {
      set_condition(node,
                    {.type = type,
                     .status = "Unknown",
                     .reason = "NodeStatusUnknown",
                     .message = "Kubelet stopped posting node status."},
                    objects_.clock.now());
    }
  });
  mark_pods_unready(name);
}

void NodeLife::taint(const std::string& name) {
  const Kind& nodes = objects_.registry.built_in("nodes");
  objects_.change(nodes, {"", name}, [&](Node& node) {
    Node taints = taints_for(node, objects_.clock.now(), is_round_);
    Node& spec = model::ensure(node, {"spec"});
    if (taints.items.empty()) {
      model::erase(spec, "taints");
    } else {
      put(spec, "taints", std::move(taints));
    }
  });
}

void NodeLife::mark_pods_unready(const std::string& name) {
  const Kind& pods = objects_.registry.built_in("pods");
  const Shelf shelf = objects_.table.shelf(pods);
  for (const auto& [key, pod] : shelf) {
    if (*find_pair(pod->fields, "spec.nodeName") != name) continue;
    objects_.change(pods, key, [&](Node& document) {
      if (find_condition(document, "Ready") == nullptr) return;
      set_condition(document, {.type = "Ready", .status = "False"}, objects_.clock.now());
    });
  }
}

void NodeLife::collect_pods() {
  const Kind& nodes = objects_.registry.built_in("nodes");
  const Kind& pods = objects_.registry.built_in("pods");
  std::map<std::string, Instant> gone;
  std::vector<Key> lost;
  for (const auto& [key, pod] : objects_.table.shelf(pods)) {
    const std::string& node = *find_pair(pod->fields, "spec.nodeName");
    if (node.empty() || objects_.table.find(nodes, {"", node}) != nullptr) continue;
    const auto known = gone_.find(node);
    const Instant since = known == gone_.end() ? loop_.now() : known->second;
    gone.emplace(node, since);
    if (loop_.now() - since >= options_.pods_outlive) lost.push_back(key);
  }
  gone_ = std::move(gone);
  DeleteOptions options;
  options.grace_seconds = 0;
  for (const Key& key : lost) (void)objects_.remove(pods, key, options);
}

void NodeLife::evict(const std::string& name) {
  const ObjectPtr object = objects_.table.find(objects_.registry.built_in("nodes"), {"", name});
  if (object == nullptr) return;
  const Node node = object->document();
  const Kind& pods = objects_.registry.built_in("pods");
  for (const Node& item : model::items_at(node, {"spec", "taints"})) {
    if (model::text_at(item, {"effect"}) != "NoExecute") continue;
    const Taint taint{std::string(model::text_at(item, {"key"})),
                      std::string(model::text_at(item, {"value"})), "NoExecute"};
    const Instant now = objects_.clock.now();
    const Instant since = parse_stamp(model::text_at(item, {"timeAdded"})).value_or(now);
    const Shelf shelf = objects_.table.shelf(pods);
    for (const auto& [key, pod] : shelf) {
      if (*find_pair(pod->fields, "spec.nodeName") != name) continue;
      const Node document = pod->document();
      const int64_t stays = tolerated_seconds(read_tolerations(document), taint);
      if (stays < 0 || is_being_deleted(document) || now < since + bounded_seconds(stays)) continue;
      (void)objects_.remove(pods, key);
    }
  }
}

}  // namespace spillway::embedded
