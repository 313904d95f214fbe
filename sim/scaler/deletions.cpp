#include "sim/scaler/deletions.h"

#include <algorithm>

namespace spillway::scaler {
namespace {

constexpr Duration k_eviction_retry = seconds(10);
constexpr Duration k_look_for_pods_every = seconds(5);
constexpr Duration k_eviction_headroom = seconds(30);

std::vector<PodView> pods_on(const ClusterView& cluster, const std::string& node) {
  std::vector<PodView> pods;
  for (const PodView& pod : cluster.pods) {
    if (pod.node == node && !pod.is_daemon) pods.push_back(pod);
  }
  return pods;
}

}  // namespace

void Deletions::start(const Removal& removal, Instant now) {
  Deletion& deletion = deletions_[removal.node.row.name];
  deletion = {removal};
  enter(deletion, Stage::waiting, now, options_.node_delete_delay_after_taint);
}

void Deletions::enter(Deletion& deletion, Stage stage, Instant now, Duration look_after) {
  deletion.stage = stage;
  deletion.since = now;
  deletion.look_at = now + look_after;
}

void Deletions::begin(Deletion& deletion, const ClusterView& cluster, Instant now) {
  const std::vector<PodView> pods = pods_on(cluster, deletion.removal.node.row.name);
  if (!deletion.removal.needs_drain) {
    return enter(deletion, pods.empty() ? Stage::removing : Stage::giving_up, now);
  }
  for (const PodView& pod : pods) deletion.unevicted.insert(pod.key);
  enter(deletion, Stage::evicting, now);
}

void Deletions::evict(Deletion& deletion, const ClusterView& cluster, Instant now,
                      std::vector<Action>& actions) {
  if (deletion.evictions_out > 0) return;
  if (deletion.unevicted.empty()) return enter(deletion, Stage::emptying, now);
  if (now > deletion.since + options_.max_pod_eviction_time) {
    return enter(deletion, Stage::giving_up, now);
  }
  for (const PodView& pod : pods_on(cluster, deletion.removal.node.row.name)) {
    if (!deletion.unevicted.contains(pod.key)) continue;
    deletion.evictions_out += 1;
    Action action{Action::Kind::evict};
    action.node = deletion.removal.node;
    action.pod = pod;
    actions.push_back(std::move(action));
  }
  if (deletion.evictions_out == 0) deletion.unevicted.clear();  // they left by themselves
  deletion.look_at = now + k_eviction_retry;
}

void Deletions::look_for_pods(Deletion& deletion, const ClusterView& cluster, Instant now) {
  if (pods_on(cluster, deletion.removal.node.row.name).empty()) {
    return enter(deletion, Stage::removing, now);
  }
  if (now - deletion.since >= options_.max_graceful_termination + k_eviction_headroom) {
    return enter(deletion, Stage::giving_up, now);
  }
  deletion.look_at = now + k_look_for_pods_every;
}

std::vector<Action> Deletions::step(const ClusterView& cluster, Instant now) {
  std::vector<Action> actions;
  for (auto& [name, deletion] : deletions_) {
    if (deletion.is_asked || deletion.look_at > now) continue;
    if (deletion.stage == Stage::waiting) begin(deletion, cluster, now);
    if (deletion.stage == Stage::evicting) evict(deletion, cluster, now, actions);
    if (deletion.stage == Stage::emptying) look_for_pods(deletion, cluster, now);
    if (deletion.stage != Stage::removing && deletion.stage != Stage::giving_up) continue;
    const bool removes = deletion.stage == Stage::removing;
    Action action{removes ? Action::Kind::remove : Action::Kind::untaint};
    action.group = deletion.removal.group;
    action.node = deletion.removal.node;
    action.nodes = {{action.node.provider_id, name}};
    deletion.is_asked = true;
    actions.push_back(std::move(action));
  }
  return actions;
}

void Deletions::told(const Action& action, const Outcome& outcome, Instant now) {
  const auto found = deletions_.find(action.node.row.name);
  if (found == deletions_.end()) return;
  Deletion& deletion = found->second;
  if (action.kind == Action::Kind::evict) {
    deletion.evictions_out -= 1;
    if (outcome.status) deletion.unevicted.erase(action.pod.key);
    if (deletion.evictions_out == 0 && deletion.unevicted.empty()) {
      enter(deletion, Stage::emptying, now);
    }
    return;
  }
  deletion.is_asked = false;
  if (action.kind == Action::Kind::remove && !outcome.status) {
    return enter(deletion, Stage::giving_up, now);
  }
  deletions_.erase(found);
}

Instant Deletions::next() const {
  Instant next = k_last_instant;
  for (const auto& [name, deletion] : deletions_) {
    if (!deletion.is_asked && deletion.evictions_out == 0) {
      next = std::min(next, deletion.look_at);
    }
  }
  return next;
}

ScaleDown::InProgress Deletions::progress() const {
  ScaleDown::InProgress progress;
  for (const auto& [name, deletion] : deletions_) {
    (deletion.removal.needs_drain ? progress.drained : progress.empty) += 1;
    progress.by_group[deletion.removal.group] += 1;
  }
  return progress;
}

std::set<std::string> Deletions::leaving() const {
  std::set<std::string> names;
  for (const auto& [name, deletion] : deletions_) names.insert(name);
  return names;
}

std::set<std::string> Deletions::drained() const {
  std::set<std::string> names;
  for (const auto& [name, deletion] : deletions_) {
    if (deletion.removal.needs_drain) names.insert(name);
  }
  return names;
}

}  // namespace spillway::scaler
