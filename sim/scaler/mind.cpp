#include "sim/scaler/mind.h"

#include <algorithm>
#include <utility>

namespace spillway::scaler {
namespace {

constexpr Duration k_instances_are_good_for = minutes(2);

}  // namespace

Mind::Mind(Options options, host::Random& random)
    : options_(options),
      random_(random),
      registry_(options_),
      scale_down_(options_),
      deletions_(options_) {}

// A group that has or had a node is simulated with that one, for ever.
bool Mind::wants_template(const std::string& group, const ClusterView& cluster,
                          const CloudView& cloud) const {
  if (templates_.contains(group)) return false;
  return std::none_of(cluster.nodes.begin(), cluster.nodes.end(), [&](const NodeView& node) {
    const GroupView* owner = cloud.owner_of(node.row.name);
    return node.row.ready && owner != nullptr && owner->id == group;
  });
}

bool Mind::wants_instances(const std::string& group, Instant now) const {
  const auto seen = seen_.find(group);
  return seen == seen_.end() || registry_.is_scaling_up(group) ||
         seen->second.at + k_instances_are_good_for <= now;
}

void Mind::saw_instances(const std::string& group, const std::vector<Instance>& instances,
                         Instant now) {
  seen_[group] = {instances, now};
}

const std::vector<Instance>& Mind::instances_of(const std::string& group) const {
  static const std::vector<Instance> k_none;
  const auto seen = seen_.find(group);
  return seen == seen_.end() ? k_none : seen->second.instances;
}

void Mind::begin(ClusterView cluster, CloudView cloud, Instant now) {
  cluster_ = std::move(cluster);
  cloud_ = std::move(cloud);
  asked_.clear();
  options_found_.clear();
  quotes_ = {};
  removals_.clear();
  tainted_.clear();
  may_scale_down_ = true;
  was_productive_ = false;
  phase_ = Phase::start;
  remember_templates();
  snapshot_ = Snapshot::of(cluster_);
  registry_.update(cluster_, cloud_, now);
  hints_.forget_others(cluster_.pods);
}

void Mind::failed() {
  phase_ = Phase::over;
  was_productive_ = false;
  scale_down_.forget();
}

// The Cluster Autoscaler waits for a minute before it trusts a new node more than the provider's
// template. Here the two are the same by contract, so that makes no difference.
void Mind::remember_templates() {
  nodes_of_groups_.clear();
  for (const NodeView& node : cluster_.nodes) {
    const GroupView* group = cloud_.owner_of(node.row.name);
    if (group == nullptr || !node.row.ready || node.row.cordoned) continue;
    nodes_of_groups_.try_emplace(group->id, as_template(node, "template-node-for-" + group->id));
  }
  for (const auto& [group, node] : nodes_of_groups_) templates_.insert_or_assign(group, node);
  std::erase_if(templates_,
                [this](const auto& entry) { return cloud_.find(entry.first) == nullptr; });
  for (const GroupView& group : cloud_.groups) {
    if (nodes_of_groups_.contains(group.id)) continue;
    if (const auto known = templates_.find(group.id); known != templates_.end()) {
      nodes_of_groups_.emplace(group.id, known->second);
    } else if (group.template_node) {
      nodes_of_groups_.emplace(group.id,
                               as_template(*group.template_node, "template-node-for-" + group.id));
    }
  }
}

std::optional<Action> Mind::next(Instant now) {
  while (asked_.empty() && phase_ != Phase::over) advance(now);
  if (asked_.empty()) return std::nullopt;
  Action action = std::move(asked_.front());
  asked_.pop_front();
  return action;
}

// What was asked last has been answered.
void Mind::advance(Instant now) {
  switch (std::exchange(phase_, Phase::over)) {
    case Phase::start:
      if (!std::exchange(has_begun_, true)) untaint_all();
      phase_ = Phase::overdue;
      return;
    case Phase::overdue:
      ask_overdue();
      phase_ = Phase::health;
      return;
    case Phase::health:
      if (!registry_.is_cluster_healthy()) return scale_down_.forget();
      is_done_ = false;
      ask_failures();
      phase_ = Phase::sizes;
      return;
    case Phase::sizes:
      if (is_done_ && options_.version == Version::v1_30) return;
      is_done_ = false;
      ask_sizes(now);
      phase_ = Phase::pods;
      return;
    case Phase::pods:
      if (is_done_) return;
      phase_ = Phase::quotes;
      return look_at_pods(now);
    case Phase::quotes:
      phase_ = Phase::down;
      return ask_increase();
    case Phase::down:
      phase_ = Phase::over;
      return look_for_unneeded(now);
    case Phase::over:
      return;
  }
}

void Mind::untaint_all() {
  for (const NodeView& node : cluster_.nodes) {
    if (!has_taint(node, k_to_be_deleted)) continue;
    Action action{Action::Kind::untaint};
    action.node = node;
    asked_.push_back(std::move(action));
  }
}

void Mind::remove_nodes(const std::string& group, std::vector<demand::NodeRef> nodes) {
  Action action{Action::Kind::remove};
  action.group = group;
  action.nodes = std::move(nodes);
  asked_.push_back(std::move(action));
  seen_.erase(group);
}

void Mind::ask_overdue() {
  for (const GroupView& group : cloud_.groups) {
    std::vector<demand::NodeRef> nodes;
    for (const std::string& id : registry_.of(group.id).long_unregistered) {
      if (std::ssize(nodes) < group.target - group.min) nodes.push_back({id, id});
    }
    if (!nodes.empty()) remove_nodes(group.id, std::move(nodes));
  }
}

void Mind::ask_failures() {
  for (const GroupView& group : cloud_.groups) {
    std::vector<demand::NodeRef> nodes;
    for (const Instance& instance : group.instances) {
      if (instance.state == Instance::State::creating && instance.error_code) {
        nodes.push_back({instance.id, instance.id});
      }
    }
    if (!nodes.empty()) remove_nodes(group.id, std::move(nodes));
  }
}

void Mind::ask_sizes(Instant now) {
  for (const GroupView& group : cloud_.groups) {
    const int32_t missing = registry_.missing_for_long(group, now);
    if (missing == 0) continue;
    Action action{Action::Kind::decrease};
    action.group = group.id;
    action.delta = -missing;
    asked_.push_back(std::move(action));
  }
}

void Mind::told(const Action& action, const Outcome& outcome, Instant now) {
  switch (action.kind) {
    case Action::Kind::increase:
      return on_increased(action, outcome, now);
    case Action::Kind::decrease:
      is_done_ = true;
      if (!outcome.status) asked_.clear();
      return;
    case Action::Kind::remove:
      if (outcome.status) is_done_ = true;
      return;
    case Action::Kind::quote_node:
      if (outcome.status) quotes_.nodes[action.group] = outcome.price;
      return;
    case Action::Kind::quote_pod:
      return on_quoted(action.pod, outcome);
    case Action::Kind::choose:
      return on_chosen(outcome);
    case Action::Kind::taint:
      return on_tainted(action, outcome, now);
    case Action::Kind::untaint:
    case Action::Kind::evict:
      return;
  }
}

}  // namespace spillway::scaler
