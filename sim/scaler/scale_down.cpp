#include "sim/scaler/scale_down.h"

#include <algorithm>

namespace spillway::scaler {
namespace {

double used_share(int64_t used, int64_t allocatable) {
  return allocatable == 0 ? 0 : static_cast<double>(used) / static_cast<double>(allocatable);
}

bool is_empty(const Place& place) {
  return std::all_of(place.pods.begin(), place.pods.end(),
                     [](const PodView& pod) { return pod.is_daemon; });
}

bool may_all_move(const Place& place) {
  return std::all_of(place.pods.begin(), place.pods.end(), [](const PodView& pod) {
    return pod.is_daemon || (pod.may_move && !pod.owner.empty());
  });
}

}  // namespace

double utilisation_of(const Place& place, bool ignore_daemons) {
  model::Resources used;
  model::Resources has = place.node.row.allocatable;
  for (const PodView& pod : place.pods) {
    if (pod.is_daemon && ignore_daemons) {
      has -= pod.requests;
    } else {
      used += pod.requests;
    }
  }
  if (gpus_of(has) > 0) return used_share(gpus_of(used), gpus_of(has));
  return std::max(used_share(used.cpu_millis, has.cpu_millis),
                  used_share(used.memory_bytes, has.memory_bytes));
}

bool ScaleDown::is_underused(const Place& place) const {
  const bool has_gpus = gpus_of(place.node.row.allocatable) > 0;
  const double threshold = has_gpus ? options_.scale_down_gpu_utilization_threshold
                                    : options_.scale_down_utilization_threshold;
  const double used = utilisation_of(place, options_.ignore_daemonsets_utilization);
  return options_.version == Version::v1_30 ? used < threshold : used <= threshold;
}

std::vector<Place> ScaleDown::candidates(const Snapshot& snapshot,
                                         const std::vector<NodeView>& nodes, const CloudView& cloud,
                                         const std::set<std::string>& leaving, Instant now) {
  std::vector<Place> found;
  has_candidates_ = false;
  for (const NodeView& node : nodes) {
    const std::string& name = node.row.name;
    const GroupView* group = cloud.owner_of(name);
    if (group == nullptr || group->target <= group->min) continue;
    has_candidates_ = true;
    if (leaving.contains(name) || is_being_deleted(node, now)) continue;
    if (unremovable_until_.contains(name)) continue;
    if (!node.row.ready && !options_.scale_down_unready_enabled) continue;
    const Place* place = snapshot.find(name);
    if (place != nullptr && is_underused(*place)) found.push_back(*place);
  }
  const auto rank = [this](const Place& place) {
    return (is_empty(place) ? 0 : 2) + (unneeded_.contains(place.node.row.name) ? 0 : 1);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&rank](const Place& a, const Place& b) { return rank(a) < rank(b); });
  return found;
}

// No more than could be removed while others wait for their time.
size_t ScaleDown::most_unneeded() const {
  const auto at_once = static_cast<size_t>(options_.max_scale_down_parallelism);
  const int64_t interval = std::max<int64_t>(1, least_interval_.ms);
  const auto rounds =
      static_cast<size_t>(std::max(options_.scale_down_unneeded_time.ms, interval) / interval);
  return std::min(unneeded_.size() + 2 * at_once, at_once * rounds + at_once);
}

void ScaleDown::update(Snapshot snapshot, const std::vector<NodeView>& nodes,
                       const CloudView& cloud, const std::set<std::string>& leaving, Instant now) {
  least_interval_ = std::min(least_interval_, now - updated_);
  updated_ = now;
  std::erase_if(unremovable_until_, [now](const auto& entry) { return entry.second < now; });
  std::set<std::string> destinations;
  for (const NodeView& node : nodes) {
    if (!leaving.contains(node.row.name)) destinations.insert(node.row.name);
  }
  const size_t most = most_unneeded();
  std::map<std::string, Unneeded> unneeded;
  for (const Place& candidate : candidates(snapshot, nodes, cloud, leaving, now)) {
    if (unneeded.size() >= most) break;
    const std::string& name = candidate.node.row.name;
    Snapshot trial = snapshot;
    Place& place = *trial.find(name);  // with what others have moved here meanwhile
    bool may_go = may_all_move(place);
    const bool needs_drain = !is_empty(place);
    if (may_go) {
      const std::vector<PodView> moved = trial.take_all(place);
      may_go = hints_
                   .place(
                       trial, moved,
                       [&](const Place& to) {
                         return to.node.row.name != name && destinations.contains(to.node.row.name);
                       },
                       true)
                   .empty();
    }
    if (!may_go) {
      unremovable_until_[name] = now + options_.unremovable_node_recheck_timeout;
      continue;
    }
    snapshot = std::move(trial);
    destinations.erase(name);
    const auto known = unneeded_.find(name);
    unneeded[name] = {{candidate.node, cloud.owner_of(name)->id, needs_drain},
                      known == unneeded_.end() ? now : known->second.since};
  }
  unneeded_ = std::move(unneeded);
  std::vector<PodView> pods;
  for (const Place& place : snapshot.places()) {
    pods.insert(pods.end(), place.pods.begin(), place.pods.end());
  }
  hints_.forget_others(pods);
}

std::vector<Removal> ScaleDown::due(const CloudView& cloud, const InProgress& progress,
                                    Instant now) const {
  std::vector<Removal> removals;
  int32_t left = options_.max_scale_down_parallelism - progress.empty - progress.drained;
  int32_t drains_left = options_.max_drain_parallelism - progress.drained;
  std::map<std::string, int32_t> sizes;
  for (const GroupView& group : cloud.groups) {
    const auto going = progress.by_group.find(group.id);
    sizes[group.id] = group.target - (going == progress.by_group.end() ? 0 : going->second);
  }
  for (const bool drains : {false, true}) {
    for (const auto& [name, unneeded] : unneeded_) {
      const Removal& removal = unneeded.removal;
      const GroupView* group = cloud.find(removal.group);
      if (removal.needs_drain != drains || group == nullptr) continue;
      const Duration wait = removal.node.row.ready ? options_.scale_down_unneeded_time
                                                   : options_.scale_down_unready_time;
      if (unneeded.since + wait >= now || sizes[group->id] <= group->min) continue;
      sizes[group->id] -= 1;
      if (left < 1 || (drains && drains_left < 1)) continue;
      left -= 1;
      if (drains) drains_left -= 1;
      removals.push_back(removal);
    }
  }
  return removals;
}

}  // namespace spillway::scaler
