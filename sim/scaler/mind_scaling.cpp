// The two halves of the Mind's loop that change how many nodes there are.
#include <algorithm>
#include <set>

#include "sim/scaler/mind.h"
#include "sim/scaler/scale_up.h"

namespace spillway::scaler {
namespace {

// Pods that came just now are probably not the last.
constexpr Duration k_new_pods_wait = seconds(2);

Action quote_of(const PodView& pod) {
  Action action{Action::Kind::quote_pod};
  action.pod = pod;
  return action;
}

}  // namespace

// What is on its way counts as there, Ready and empty; what of it is registered already is left
// out, lest it be counted twice.
void Mind::add_upcoming() {
  for (const auto& [group, coming] : registry_.upcoming(cloud_)) {
    for (const std::string& name : coming.registered) {
      snapshot_.remove(name);
      std::erase_if(cluster_.nodes,
                    [&name](const NodeView& node) { return node.row.name == name; });
    }
    const auto node = nodes_of_groups_.find(group);
    if (node == nodes_of_groups_.end()) continue;
    for (int32_t i = 0; i < coming.count; ++i) {
      snapshot_.add(as_template(node->second, group + "-upcoming-" + std::to_string(i)));
      upcoming_ += 1;
    }
  }
}

// Those that the scheduler gave up on, and those that a drain is about to make homeless, unless
// they fit somewhere after all.
std::vector<PodView> Mind::pods_to_help(Instant now) {
  std::vector<PodView> waiting;
  const std::set<std::string> drained = deletions_.drained();
  for (PodView pod : cluster_.pods) {
    const bool is_evicted_soon = drained.contains(pod.node) && !pod.owner.empty() && !pod.is_daemon;
    if (!(pod.node.empty() && pod.is_unschedulable) && !is_evicted_soon) continue;
    pod.node.clear();
    waiting.push_back(std::move(pod));
  }
  std::vector<PodView> left = hints_.place(
      snapshot_, waiting, [](const Place&) { return true; }, false);
  std::erase_if(left, [&](const PodView& pod) {
    return now - pod.created <= options_.new_pod_scale_up_delay;
  });
  return left;
}

bool Mind::are_all_new(const std::vector<PodView>& pods, Instant now) {
  return std::all_of(pods.begin(), pods.end(),
                     [now](const PodView& pod) { return pod.created + k_new_pods_wait > now; });
}

void Mind::look_at_pods(Instant now) {
  ready_ = static_cast<int32_t>(std::count_if(cluster_.nodes.begin(), cluster_.nodes.end(),
                                              [](const NodeView& node) { return node.row.ready; }));
  known_nodes_ = cluster_.nodes.size();
  upcoming_ = 0;
  add_upcoming();
  const std::vector<PodView> pods = pods_to_help(now);
  if (pods.empty()) return;
  if (options_.max_nodes_total > 0 && ready_ >= options_.max_nodes_total) return;
  if (are_all_new(pods, now)) {
    may_scale_down_ = false;
    return;
  }
  find_options(pods, now);
  if (options_found_.empty()) return;
  if (options_.expander == Expander::price) ask_quotes();
  if (options_.expander == Expander::grpc) {
    Action action{Action::Kind::choose};
    action.options = options_found_;
    asked_.push_back(std::move(action));
  }
}

// Without an answer all are left. With an empty one, too, in 1.30; in 1.35 none is.
void Mind::on_chosen(const Outcome& outcome) {
  if (!outcome.status) return;
  if (outcome.groups.empty() && options_.version == Version::v1_30) return;
  const std::set<std::string> chosen(outcome.groups.begin(), outcome.groups.end());
  std::erase_if(options_found_,
                [&chosen](const Option& option) { return !chosen.contains(option.group); });
}

void Mind::find_options(const std::vector<PodView>& pods, Instant now) {
  const Lots lots = lots_of(pods);
  for (const GroupView& group : cloud_.groups) {
    const auto node = nodes_of_groups_.find(group.id);
    if (node == nodes_of_groups_.end() || group.target >= group.max) continue;
    if (!registry_.may_grow(group, now)) continue;
    int32_t most = std::min(options_.max_nodes_per_scaleup, group.max - group.target);
    if (options_.max_nodes_total > 0) {
      most = std::min(most, options_.max_nodes_total - ready_ - upcoming_);
    }
    if (most <= 0) continue;
    Option option = estimate(group.id, node->second, lots, most);
    if (option.count > 0) options_found_.push_back(std::move(option));
  }
}

// Pods of one lot cost the same: one of them is asked about.
void Mind::ask_quotes() {
  asked_.push_back(quote_of(stabilisation_pod()));
  std::vector<PodView> all;
  for (const Option& option : options_found_) {
    Action action{Action::Kind::quote_node};
    action.group = option.group;
    action.node = option.node;
    asked_.push_back(std::move(action));
    all.insert(all.end(), option.pods.begin(), option.pods.end());
  }
  for (const std::vector<PodView>& lot : lots_of(all)) asked_.push_back(quote_of(lot.front()));
}

void Mind::on_quoted(const PodView& pod, const Outcome& outcome) {
  if (!outcome.status) return;
  if (pod.key == stabilisation_pod().key) {
    quotes_.stabilisation = outcome.price;
    return;
  }
  for (const Option& option : options_found_) {
    for (const PodView& one : option.pods) {
      if (are_alike(one, pod)) quotes_.pods[one.key] = outcome.price;
    }
  }
}

void Mind::ask_increase() {
  std::vector<Option> best = options_found_;
  if (options_.expander == Expander::least_waste) best = least_wasteful(best);
  if (options_.expander == Expander::price) best = best_priced(best, quotes_, known_nodes_);
  const std::optional<Option> chosen = choose(best, random_);
  if (!chosen) return;
  Action action{Action::Kind::increase};
  action.group = chosen->group;
  action.delta = chosen->count;
  asked_.push_back(std::move(action));
}

void Mind::on_increased(const Action& action, const Outcome& outcome, Instant now) {
  GroupView* group = cloud_.find(action.group);
  if (outcome.status) {
    registry_.scaled_up(*group, action.delta, now);
    group->target += action.delta;
    last_up_ = now;
    was_productive_ = true;
  } else {
    registry_.scale_up_failed(action.group, now);
  }
  if (options_.version == Version::v1_30) phase_ = Phase::over;
}

bool Mind::is_cooling_down(Instant now) const {
  return !may_scale_down_ || !scale_down_.has_candidates() ||
         last_up_ + options_.scale_down_delay_after_add > now ||
         last_failure_ + options_.scale_down_delay_after_failure > now ||
         last_delete_ + options_.scale_down_delay_after_delete > now;
}

void Mind::look_for_unneeded(Instant now) {
  if (!options_.scale_down_enabled) return;
  scale_down_.update(snapshot_, cluster_.nodes, cloud_, deletions_.leaving(), now);
  if (is_cooling_down(now)) return;
  removals_ = scale_down_.due(cloud_, deletions_.progress(), now);
  for (const Removal& removal : removals_) {
    Action action{Action::Kind::taint};
    action.group = removal.group;
    action.node = removal.node;
    asked_.push_back(std::move(action));
  }
}

// Nothing is deleted before all are tainted: pods of one could land on another.
void Mind::on_tainted(const Action& action, const Outcome& outcome, Instant now) {
  if (!outcome.status) {
    last_failure_ = now;
    asked_.clear();
    removals_.clear();
    for (const NodeView& node : tainted_) {
      Action undo{Action::Kind::untaint};
      undo.node = node;
      asked_.push_back(std::move(undo));
    }
    return;
  }
  tainted_.push_back(action.node);
  if (tainted_.size() < removals_.size()) return;
  for (const Removal& removal : removals_) deletions_.start(removal, now);
  last_delete_ = now;
  was_productive_ = true;
}

}  // namespace spillway::scaler
