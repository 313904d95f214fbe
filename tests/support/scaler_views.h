// Clusters and clouds in a few words, for tests of the model of the Cluster Autoscaler.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "sim/scaler/mind.h"

namespace spillway::scaler {

inline constexpr Instant k_noon{1'800'000'000'000};

inline model::Resources amounts(int64_t cpu_millis, int64_t memory_mib) {
  model::Resources resources;
  resources.cpu_millis = cpu_millis;
  resources.memory_bytes = memory_mib << 20;
  resources.pods = 20;
  return resources;
}

inline NodeView node(const std::string& name, int64_t cores, int64_t memory_gib = 8) {
  NodeView node;
  node.row.name = name;
  node.row.arch = "amd64";
  node.row.allocatable = amounts(cores * 1000, memory_gib * 1024);
  node.row.labels = {{"kubernetes.io/hostname", name}};
  node.row.ready = true;
  node.provider_id = "cloud://" + name;
  node.capacity = node.row.allocatable;
  node.created = k_noon;
  return node;
}

inline PodView pod(const std::string& name, int64_t cpu_millis, int64_t memory_mib = 64) {
  PodView pod;
  pod.key = "default/" + name;
  pod.owner = "owner";
  pod.requests = amounts(cpu_millis, memory_mib);
  pod.requests.pods = 1;
  pod.placement = std::make_shared<supply::Placement>();
  pod.created = k_noon;
  pod.is_unschedulable = true;
  return pod;
}

inline PodView pod_on(const std::string& where, const std::string& name, int64_t cpu_millis) {
  PodView placed = pod(name, cpu_millis);
  placed.node = where;
  placed.is_unschedulable = false;
  return placed;
}

inline GroupView group(const std::string& id, int32_t target, int32_t max, NodeView shape) {
  GroupView group{id, 0, max, target};
  group.template_node = std::move(shape);
  return group;
}

// A Mind with what it sees. Each loop answers what it asks with yes, unless `refuses` says no.
struct Scene {
  explicit Scene(Options options = {}) : mind(options, random) {}

  void place(const std::string& in_group, const NodeView& one) {
    cluster.nodes.push_back(one);
    cloud.group_of[one.row.name] = in_group;
  }
  void instance(const std::string& in_group, Instance one) {
    cloud.group_of[one.id] = in_group;
    cloud.find(in_group)->instances.push_back(std::move(one));
  }

  std::vector<Action> loop(Duration after = seconds(10)) {
    now = now + after;
    mind.begin(cluster, cloud, now);
    std::vector<Action> asked;
    while (const auto action = mind.next(now)) {
      asked.push_back(*action);
      Outcome outcome;
      if (refuses && refuses(*action)) {
        outcome.status = fail(Code::unavailable, "cloud", "it refuses", "try another");
      }
      if (action->kind == Action::Kind::quote_node) outcome.price = price_of_node[action->group];
      if (action->kind == Action::Kind::quote_pod) outcome.price = price_of_pod;
      if (action->kind == Action::Kind::choose) outcome.groups = chosen;
      mind.told(*action, outcome, now);
    }
    return asked;
  }

  // Those of one kind.
  std::vector<Action> loop_for(Action::Kind kind, Duration after = seconds(10)) {
    std::vector<Action> all = loop(after);
    std::erase_if(all, [kind](const Action& action) { return action.kind != kind; });
    return all;
  }

  host::SeededRandom random{1};
  Instant now = k_noon;
  ClusterView cluster;
  CloudView cloud;
  std::function<bool(const Action&)> refuses;
  std::map<std::string, double> price_of_node;
  double price_of_pod = 1;
  std::vector<std::string> chosen;  // by the gRPC expander
  Mind mind;
};

}  // namespace spillway::scaler
