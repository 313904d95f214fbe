// Snapshot: nodes with the pods that are on them, to try out what would fit where.
//
// Whether a pod fits is decided as far as the kube-scheduler decides it by requests, node selector,
// required node affinity and taints (supply/placement.h). What the Cluster Autoscaler takes over
// from the scheduler beyond that (affinity between pods, spreading, ports, volumes) is not
// modelled: loads that use it would differ.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/scaler/views.h"

namespace spillway::scaler {

struct Place {
  NodeView node;
  model::Resources free;
  std::vector<PodView> pods = {};
};

class Snapshot {
 public:
  using Accept = std::function<bool(const Place&)>;

  // Pods on nodes that are not there are left out.
  static Snapshot of(const ClusterView& cluster);

  void add(const NodeView& node);
  void remove(const std::string& node);
  void put(const PodView& pod, Place& place);
  std::vector<PodView> take_all(Place& place);  // daemons stay

  Place* find(const std::string& node);
  const Place* find(const std::string& node) const;
  // The first that fits, beginning after the one that was found last: so the Cluster Autoscaler
  // spreads what it tries.
  Place* find_fitting(const PodView& pod, const Accept& accept);
  const std::vector<Place>& places() const { return places_; }

 private:
  std::vector<Place> places_;
  size_t next_ = 0;
};

bool fits(const PodView& pod, const Place& place);
// By requests and placement: whether what holds for one holds for the other.
bool are_alike(const PodView& a, const PodView& b);

// Where pods were put the last time that it was tried; tried first the next time.
class Hints {
 public:
  // Puts each where it fits. Those that do not fit are returned; with `all_or_none` the first of
  // them ends it.
  std::vector<PodView> place(Snapshot& snapshot, const std::vector<PodView>& pods,
                             const Snapshot::Accept& accept, bool all_or_none);
  void forget_others(const std::vector<PodView>& pods);

 private:
  std::map<std::string, std::string> nodes_;  // by pod
};

}  // namespace spillway::scaler
