#include "sim/scaler/registry.h"

#include <algorithm>

namespace spillway::scaler {
namespace {

int32_t size_of(const std::vector<std::string>& names) {
  return static_cast<int32_t>(names.size());
}

bool is_to_register(const Instance& instance) {
  return instance.state != Instance::State::deleting && !instance.error_code;
}

}  // namespace

void Registry::update(const ClusterView& cluster, const CloudView& cloud, Instant now) {
  targets_.clear();
  for (const GroupView& group : cloud.groups) targets_[group.id] = group.target;
  note_unregistered(cluster, cloud, now);
  count(cluster, cloud, now);
  backoff_.forget_old(now);
  end_requests(now);
  hear_errors(cloud, now);
  note_sizes(cloud, now);
}

void Registry::note_unregistered(const ClusterView& cluster, const CloudView& cloud, Instant now) {
  std::set<std::string> registered;
  for (const NodeView& node : cluster.nodes) registered.insert(node.provider_id);
  std::map<std::string, Instant> noted;
  for (const GroupView& group : cloud.groups) {
    for (const Instance& instance : group.instances) {
      if (registered.contains(instance.id) || !is_to_register(instance)) continue;
      const auto known = unregistered_.find(instance.id);
      noted[instance.id] = known == unregistered_.end() ? now : known->second;
    }
  }
  unregistered_ = std::move(noted);
}

void Registry::count_node(Readiness& readiness, const NodeView& node, Instant now) const {
  readiness.registered += 1;
  const std::string& name = node.row.name;
  // The wire has no way to ask whether an instance exists: its taint must tell.
  if (has_taint(node, k_to_be_deleted)) {
    readiness.being_deleted.push_back(name);
  } else if (node.row.ready) {
    readiness.ready.push_back(name);
  } else if (node.created + options_.max_node_startup_time > now) {
    readiness.not_started.push_back(name);
  } else {
    readiness.unready.push_back(name);
  }
}

void Registry::count(const ClusterView& cluster, const CloudView& cloud, Instant now) {
  readiness_.clear();
  total_ = {};
  for (const NodeView& node : cluster.nodes) {
    if (const GroupView* group = cloud.owner_of(node.row.name)) {
      count_node(readiness_[group->id], node, now);
    }
    count_node(total_, node, now);
  }
  for (const auto& [id, since] : unregistered_) {
    const GroupView* group = cloud.owner_of(id);
    if (group == nullptr) continue;
    Readiness& readiness = readiness_[group->id];
    const bool is_overdue = since + options_.max_node_provision_time < now;
    (is_overdue ? readiness.long_unregistered : readiness.unregistered).push_back(id);
  }
}

const Readiness& Registry::of(const std::string& group) const {
  static const Readiness k_none;
  const auto found = readiness_.find(group);
  return found == readiness_.end() ? k_none : found->second;
}

int32_t Registry::provisioned(const std::string& group) const {
  const Readiness& readiness = of(group);
  return readiness.registered - size_of(readiness.not_started);
}

bool Registry::is_scaling_up(const std::string& group) const {
  const auto target = targets_.find(group);
  return requests_.contains(group) && target != targets_.end() &&
         target->second > provisioned(group);
}

void Registry::end_requests(Instant now) {
  std::erase_if(requests_, [&](const auto& entry) {
    const auto& [group, request] = entry;
    const auto target = targets_.find(group);
    const bool is_done = target == targets_.end() || target->second <= provisioned(group);
    const bool is_overdue = request.expected_by < now;
    if (!is_done && is_overdue) backoff_.failed(group, now);
    return is_done || is_overdue;
  });
}

void Registry::hear_errors(const CloudView& cloud, Instant now) {
  std::set<std::string> errors;
  for (const GroupView& group : cloud.groups) {
    int32_t unheard = 0;
    for (const Instance& instance : group.instances) {
      if (instance.state != Instance::State::creating || !instance.error_code) continue;
      errors.insert(instance.id);
      if (!known_errors_.contains(instance.id)) unheard += 1;
    }
    if (unheard == 0 || !is_scaling_up(group.id)) continue;
    Request& request = requests_[group.id];
    request.increase -= unheard;
    if (request.increase <= 0) requests_.erase(group.id);
    backoff_.failed(group.id, now);
  }
  known_errors_ = std::move(errors);
}

void Registry::note_sizes(const CloudView& cloud, Instant now) {
  std::map<std::string, WrongSize> noted;
  for (const GroupView& group : cloud.groups) {
    // A group of which nothing was ever seen is left as it is, whatever its target says.
    if (!readiness_.contains(group.id)) continue;
    const Readiness& readiness = of(group.id);
    const int32_t coming = size_of(readiness.unregistered) + size_of(readiness.long_unregistered);
    if (readiness.registered <= group.target && readiness.registered >= group.target - coming) {
      continue;
    }
    WrongSize wrong{readiness.registered, group.target, now};
    const auto known = wrong_sizes_.find(group.id);
    if (known != wrong_sizes_.end() && known->second.current == wrong.current &&
        known->second.expected == wrong.expected) {
      wrong.since = known->second.since;
    }
    noted[group.id] = wrong;
  }
  wrong_sizes_ = std::move(noted);
}

int32_t Registry::missing_for_long(const GroupView& group, Instant now) const {
  const auto wrong = wrong_sizes_.find(group.id);
  if (wrong == wrong_sizes_.end()) return 0;
  if (wrong->second.since + options_.max_node_provision_time >= now) return 0;
  return std::max(0, wrong->second.expected - wrong->second.current);
}

bool Registry::is_cluster_healthy() const {
  const int32_t unready = size_of(total_.unready);
  return unready <= options_.ok_total_unready_count ||
         unready <= options_.max_total_unready_percentage / 100 * total_.registered;
}

int32_t Registry::least_nodes(const GroupView& group) const {
  const auto request = requests_.find(group.id);
  return group.target - size_of(of(group.id).long_unregistered) -
         (request == requests_.end() ? 0 : request->second.increase);
}

bool Registry::is_healthy(const GroupView& group) const {
  const int32_t least = least_nodes(group);
  if (!readiness_.contains(group.id)) {
    return group.target == 0 || (least == 0 && group.target > 0);
  }
  const Readiness& readiness = of(group.id);
  const int32_t ready = size_of(readiness.ready);
  const int32_t missing = std::max(0, least - ready);
  const int32_t all = ready + size_of(readiness.unready) + size_of(readiness.not_started);
  return missing <= options_.ok_total_unready_count ||
         missing <= options_.max_total_unready_percentage / 100 * all;
}

bool Registry::may_grow(const GroupView& group, Instant now) const {
  return is_healthy(group) && !backoff_.holds(group.id, now);
}

std::map<std::string, Registry::Upcoming> Registry::upcoming(const CloudView& cloud) const {
  std::map<std::string, Upcoming> all;
  for (const GroupView& group : cloud.groups) {
    const Readiness& readiness = of(group.id);
    const int32_t coming = group.target - size_of(readiness.ready) - size_of(readiness.unready) -
                           size_of(readiness.long_unregistered);
    if (coming > 0) all[group.id] = {coming, readiness.not_started};
  }
  return all;
}

void Registry::scaled_up(const GroupView& group, int32_t delta, Instant now) {
  Request& request = requests_[group.id];
  request.increase += delta;
  request.since = now;
  request.expected_by = now + options_.max_node_provision_time;
}

}  // namespace spillway::scaler
