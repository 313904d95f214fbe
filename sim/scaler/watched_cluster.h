// WatchedCluster: a cluster as the Cluster Autoscaler sees it, by its API: nodes and pods are
// followed, nodes tainted, pods evicted.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "kube/api.h"
#include "kube/watch.h"
#include "sim/scaler/ports.h"

namespace spillway::scaler {

// None: it cannot be read, and is not simulated with.
std::optional<NodeView> node_view(const kube::Object& node);
// None: it has ended.
std::optional<PodView> pod_view(const kube::Object& pod);

class WatchedCluster final : public Cluster {
 public:
  // `on_unschedulable`: the scheduler has found no node for a pod.
  explicit WatchedCluster(
      kube::Api& api, std::function<void()> on_unschedulable = [] {});

  void start();
  bool is_synced() const { return nodes_watch_.is_synced() && pods_watch_.is_synced(); }

  ClusterView look() const override;
  void taint(const std::string& node, Done done) override;
  void untaint(const std::string& node, Done done) override;
  void evict(const PodView& pod, Done done) override;

 private:
  void put_pod(const kube::Object& pod);

  kube::Api& api_;
  std::function<void()> on_unschedulable_;
  std::map<std::string, NodeView> nodes_;
  std::map<std::string, PodView> pods_;
  kube::Watch nodes_watch_;
  kube::Watch pods_watch_;
};

}  // namespace spillway::scaler
