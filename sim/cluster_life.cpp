#include "sim/cluster_life.h"

#include <array>

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
    : world_(world), network_(network), cluster_(cluster), agent_at_(agent_at) {}

void ClusterLife::begin(Duration fault_every) {
  act_later();
  if (fault_every.ms > 0) fail_later(fault_every);
}

void ClusterLife::calm() {
  is_calm_ = true;
  cluster_.live().faults().clear();
  cluster_.live().set_clock_skew({});
  cluster_.set_expired(false);
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
    fail();
    fail_later(mean);
  });
}

void ClusterLife::fail() {
  const auto dice = world_.below(100);
  world_.note("cluster fault", static_cast<int64_t>(dice));
  if (dice < 30) return fail_requests();
  if (dice < 55) return fail_streams();
  if (dice < 65) return cluster_.live().forget_history();
  if (dice < 72) return cluster_.live().set_clock_skew(world_.between(hours(-30), hours(30)));
  if (dice < 82) return restart();
  if (dice < 90) {
    cluster_.set_expired(true);
    cluster_.process().after(world_.between(seconds(5), minutes(4)),
                             [this] { cluster_.set_expired(false); });
    return;
  }
  network_.cut(cluster_.address(), agent_at_);
  const Duration longest = world_.chance(100) ? hours(1) : minutes(3);
  world_.after(world_.between(seconds(5), longest),
               [this] { network_.mend(cluster_.address(), agent_at_); });
}

// Of lists and of the openings of streams, for a while.
void ClusterLife::fail_requests() {
  constexpr std::array k_codes{409, 410, 429, 500, 503, 504};
  embedded::Fault fault;
  fault.per_mille = static_cast<uint32_t>(200 + world_.below(801));
  switch (world_.below(6)) {
    case 0:
      fault.delay = world_.between(milliseconds(200), seconds(12));
      break;
    case 1:
      fault.loses_answer = true;
      break;
    case 2:
      fault.cuts = true;
      break;
    case 3:
      fault.garbles = true;
      break;
    default:
      fault.code = k_codes[world_.below(k_codes.size())];
      fault.retry_after_seconds = static_cast<int>(world_.below(3));
  }
  cluster_.live().faults().add(fault);
  cluster_.process().after(world_.between(seconds(2), minutes(2)),
                           [this] { cluster_.live().faults().clear(); });
}

void ClusterLife::fail_streams() {
  embedded::Fault fault;
  fault.verb = world_.chance(800) ? "watch" : "";
  const auto events = static_cast<int64_t>(1 + world_.below(4));
  switch (world_.below(4)) {
    case 0:
      fault.cut_after_events = events;
      break;
    case 1:
      fault.garbage_after_events = events;
      break;
    case 2:
      fault.cut_after = world_.between(milliseconds(100), seconds(20));
      break;
    default:
      fault.drop_bytes = 400;
      fault.drop_every = milliseconds(300);
  }
  cluster_.live().faults().add(fault);
  cluster_.process().after(world_.between(seconds(10), minutes(3)),
                           [this] { cluster_.live().faults().clear(); });
}

// Half of them as if from a backup: versions that were given are given again. That takes longer
// than any message is on its way.
void ClusterLife::restart() {
  if (world_.chance(500)) return cluster_.restart(world_.between({100}, seconds(60)), 0);
  const auto lost = static_cast<int64_t>(world_.below(80));
  cluster_.restart(world_.between(seconds(15), seconds(60)), lost);
}

}  // namespace spillway::sim
