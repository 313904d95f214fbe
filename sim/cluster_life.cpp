#include "sim/cluster_life.h"

#include "model/tree.h"

namespace spillway::sim {
namespace {

using model::Node;
using model::text_node;

constexpr size_t k_most_pods = 20;
constexpr size_t k_most_nodes = 4;

const embedded::Shelf& shelf_of(SimCluster& cluster, std::string_view plural) {
  embedded::Objects& objects = cluster.live().objects();
  return objects.table.shelf(objects.registry.built_in(plural));
}

Node container(int64_t cpu_millis, int64_t memory_bytes) {
  Node one = model::object_node();
  model::put(one, "name", text_node("main"));
  model::put(one, "image", text_node("example.com/work"));
  Node& requests = model::ensure(one, {"resources", "requests"});
  model::put(requests, "cpu", text_node(fmt::format("{}m", cpu_millis)));
  model::put(requests, "memory", text_node(std::to_string(memory_bytes)));
  return one;
}

}  // namespace

ClusterLife::ClusterLife(World& world, Network& network, SimCluster& cluster, Address agent_at)
    : world_(world), cluster_(cluster), trouble_(world, network, cluster, agent_at) {}

void ClusterLife::begin(Duration fault_every) {
  act_later();
  if (fault_every.ms > 0) fail_later(fault_every);
}

void ClusterLife::calm() {
  is_calm_ = true;
  trouble_.end();
  clear_pending();
}

void ClusterLife::clear_pending() {
  embedded::Objects& objects = cluster_.live().objects();
  const embedded::Kind& pods = objects.registry.built_in("pods");
  for (const auto& [key, pod] : embedded::Shelf(objects.table.shelf(pods))) {
    const bool is_bound = !model::text_at(pod->document(), {"spec", "nodeName"}).empty();
    if (!is_bound) (void)objects.remove(pods, key, {.grace_seconds = 0});
  }
  cluster_.process().after(seconds(30), [this] { clear_pending(); });
}

void ClusterLife::act_later() {
  cluster_.process().after(world_.between(seconds(2), seconds(20)), [this] {
    if (is_calm_) return;
    act();
    act_later();
  });
}

void ClusterLife::act() {
  const auto dice = world_.below(100);
  if (dice < 38) return add_pod();
  if (dice < 62) return remove_pod();
  if (dice < 72) return change_node();
  if (dice < 78) return silence_node();
  if (dice < 82) return add_node();
  if (dice < 86) return remove_node();
  if (dice < 93) return move_node();
}

embedded::Key ClusterLife::any(std::string_view plural) {
  const embedded::Shelf& shelf = shelf_of(cluster_, plural);
  if (shelf.empty()) return {};
  return std::next(shelf.begin(), static_cast<ptrdiff_t>(world_.below(shelf.size())))->first;
}

void ClusterLife::add_pod() {
  if (shelf_of(cluster_, "pods").size() >= k_most_pods) return;
  Node pod = model::object_node();
  Node& metadata = model::ensure(pod, {"metadata"});
  model::put(metadata, "name", text_node(fmt::format("pod-{}", next_pod_++)));
  model::put(metadata, "namespace", text_node("default"));
  if (world_.chance(150)) {
    model::put(model::ensure(metadata, {"labels"}), "liqo.io/managed-by", text_node("shadowpod"));
  }
  if (world_.chance(200)) {
    model::put(model::ensure(metadata, {"annotations"}), "embedded.spillway.dev/run-for",
               text_node(world_.chance(500) ? "20s" : "2m"));
  }
  const bool is_huge = world_.chance(80);
  const auto cpu = static_cast<int64_t>(is_huge ? 50'000 : 100 + world_.below(2000));
  const auto memory = static_cast<int64_t>((1 + world_.below(24)) << 27);
  Node& containers = model::ensure(pod, {"spec"});
  Node list = model::array_node();
  list.items.push_back(container(cpu, memory));
  model::put(containers, "containers", std::move(list));
  embedded::Objects& objects = cluster_.live().objects();
  (void)objects.create(objects.registry.built_in("pods"), std::move(pod));
}

void ClusterLife::remove_pod() {
  const embedded::Key pod = any("pods");
  if (pod.name.empty()) return;
  embedded::Objects& objects = cluster_.live().objects();
  (void)objects.remove(objects.registry.built_in("pods"), pod,
                       {.grace_seconds = static_cast<int64_t>(world_.below(10))});
}

void ClusterLife::change_node() {
  const embedded::Key node = any("nodes");
  if (node.name.empty()) return;
  embedded::Objects& objects = cluster_.live().objects();
  objects.change(objects.registry.built_in("nodes"), node, [](Node& document) {
    const bool is_cordoned = model::boolean_at(document, {"spec", "unschedulable"});
    model::put(model::ensure(document, {"spec"}), "unschedulable",
               model::boolean_node(!is_cordoned));
  });
}

void ClusterLife::move_node() {
  const embedded::Key node = any("nodes");
  if (node.name.empty()) return;
  const char* zone = world_.chance(500) ? "a" : "b";
  embedded::Objects& objects = cluster_.live().objects();
  objects.change(objects.registry.built_in("nodes"), node, [zone](Node& document) {
    model::put(model::ensure(document, {"metadata", "labels"}), "zone", text_node(zone));
  });
}

void ClusterLife::silence_node() {
  const embedded::Key node = any("nodes");
  if (node.name.empty()) return;
  const bool was_silent = silent_.erase(node.name) > 0;
  if (!was_silent) silent_.insert(node.name);
  cluster_.live().set_kubelet(node.name, was_silent);
}

void ClusterLife::add_node() {
  if (shelf_of(cluster_, "nodes").size() >= k_most_nodes) return;
  embedded::NodeWish wish;
  wish.name = fmt::format("extra-{}", next_node_++);
  wish.cpu = std::to_string(world_.chance(500) ? 8 : 3);
  wish.pods = "30";
  (void)cluster_.live().add_node(wish);
}

void ClusterLife::remove_node() {
  if (shelf_of(cluster_, "nodes").size() <= 1) return;
  const embedded::Key node = any("nodes");
  embedded::Objects& objects = cluster_.live().objects();
  (void)objects.remove(objects.registry.built_in("nodes"), node);
}

void ClusterLife::fail_later(Duration mean) {
  cluster_.process().after(world_.between({}, {mean.ms * 2}), [this, mean] {
    if (is_calm_) return;
    trouble_.cause();
    fail_later(mean);
  });
}

}  // namespace spillway::sim
