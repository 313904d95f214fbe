#include "sim/scaler/snapshot.h"

#include <algorithm>
#include <set>

namespace spillway::scaler {
namespace {

template <class Places>
auto find_place(Places& places, const std::string& node) {
  const auto found = std::find_if(places.begin(), places.end(), [&node](const Place& place) {
    return place.node.row.name == node;
  });
  return found == places.end() ? nullptr : &*found;
}

}  // namespace

bool fits(const PodView& pod, const Place& place) {
  return !place.node.row.cordoned && place.free.covers(pod.requests) &&
         supply::admits(*pod.placement, place.node.row);
}

bool are_alike(const PodView& a, const PodView& b) {
  return a.requests == b.requests && *a.placement == *b.placement;
}

Snapshot Snapshot::of(const ClusterView& cluster) {
  Snapshot snapshot;
  for (const NodeView& node : cluster.nodes) snapshot.add(node);
  for (const PodView& pod : cluster.pods) {
    if (Place* place = pod.node.empty() ? nullptr : snapshot.find(pod.node)) {
      snapshot.put(pod, *place);
    }
  }
  return snapshot;
}

void Snapshot::add(const NodeView& node) { places_.push_back({node, node.row.allocatable}); }

void Snapshot::remove(const std::string& node) {
  std::erase_if(places_, [&node](const Place& place) { return place.node.row.name == node; });
}

void Snapshot::put(const PodView& pod, Place& place) {
  place.free -= pod.requests;
  place.pods.push_back(pod);
}

std::vector<PodView> Snapshot::take_all(Place& place) {
  std::vector<PodView> taken;
  std::vector<PodView> left;
  for (PodView& pod : place.pods) {
    if (!pod.is_daemon) place.free += pod.requests;
    (pod.is_daemon ? left : taken).push_back(std::move(pod));
  }
  place.pods = std::move(left);
  return taken;
}

Place* Snapshot::find(const std::string& node) { return find_place(places_, node); }

const Place* Snapshot::find(const std::string& node) const { return find_place(places_, node); }

Place* Snapshot::find_fitting(const PodView& pod, const Accept& accept) {
  for (size_t i = 0; i < places_.size(); ++i) {
    const size_t at = (next_ + i) % places_.size();
    if (!accept(places_[at]) || !fits(pod, places_[at])) continue;
    next_ = (at + 1) % places_.size();
    return &places_[at];
  }
  return nullptr;
}

std::vector<PodView> Hints::place(Snapshot& snapshot, const std::vector<PodView>& pods,
                                  const Snapshot::Accept& accept, bool all_or_none) {
  std::vector<PodView> left;
  for (const PodView& pod : pods) {
    Place* place = nullptr;
    if (const auto hint = nodes_.find(pod.key); hint != nodes_.end()) {
      place = snapshot.find(hint->second);
      if (place != nullptr && !(accept(*place) && fits(pod, *place))) place = nullptr;
    }
    const bool is_hopeless =
        place == nullptr && std::any_of(left.begin(), left.end(),
                                        [&pod](const PodView& one) { return are_alike(one, pod); });
    if (place == nullptr && !is_hopeless) place = snapshot.find_fitting(pod, accept);
    if (place == nullptr) {
      left.push_back(pod);
      if (all_or_none) return left;
      continue;
    }
    nodes_[pod.key] = place->node.row.name;
    snapshot.put(pod, *place);
  }
  return left;
}

void Hints::forget_others(const std::vector<PodView>& pods) {
  std::set<std::string> keys;
  for (const PodView& pod : pods) keys.insert(pod.key);
  std::erase_if(nodes_, [&keys](const auto& hint) { return !keys.contains(hint.first); });
}

}  // namespace spillway::scaler
