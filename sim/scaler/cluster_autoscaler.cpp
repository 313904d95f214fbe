#include "sim/scaler/cluster_autoscaler.h"

#include <memory>
#include <set>
#include <utility>

namespace spillway::scaler {
namespace {

constexpr Duration k_priced_for = hours(1);

}  // namespace

ClusterAutoscaler::ClusterAutoscaler(host::Loop& loop, host::Random& random, Cloud& cloud,
                                     Cluster& cluster, Options options, Watcher watcher)
    : loop_(loop),
      cloud_(cloud),
      cluster_(cluster),
      mind_(options, random),
      watcher_(std::move(watcher)),
      deletions_alarm_(loop, [this] { step_deletions(); }) {}

void ClusterAutoscaler::start() { finish(); }

void ClusterAutoscaler::pod_is_unschedulable() {
  if (!mind_.options().frequent_loops_enabled) return;
  is_wanted_ = true;
  if (!is_scanning_) scan();
}

// One after the other: the real one holds a lock while it asks. The first error ends the loop.
void ClusterAutoscaler::ask_in_turn(std::deque<Question> questions, std::function<void()> then) {
  if (questions.empty()) return then();
  const Question question = std::move(questions.front());
  questions.pop_front();
  auto rest = std::make_shared<std::deque<Question>>(std::move(questions));
  question(life_.guard([this, rest, then = std::move(then)](const Status& status) {
    if (!status) {
      mind_.failed();
      return finish();
    }
    ask_in_turn(std::move(*rest), then);
  }));
}

void ClusterAutoscaler::scan() {
  is_scanning_ = true;
  is_wanted_ = false;
  sleeps_ += 1;
  seen_ = cluster_.look();
  view_ = {};
  cloud_.refresh(life_.guard([this](const Status& status) {
    if (!status) return finish();
    cloud_.node_groups(life_.guard(
        [this](Result<std::vector<GroupView>> groups) { on_groups(std::move(groups)); }));
  }));
}

// Who cannot list its groups has none, this time.
void ClusterAutoscaler::on_groups(Result<std::vector<GroupView>> groups) {
  if (groups) view_.groups = std::move(*groups);
  ask_in_turn(questions_on_nodes(), [this] {
    ask_in_turn(questions_on_groups(), [this] {
      ask_in_turn(questions_on_instances(),
                  [this] { ask_in_turn(questions_on_templates(), [this] { decide(); }); });
    });
  });
}

ClusterAutoscaler::Question ClusterAutoscaler::ask_group_of(const demand::NodeRef& node) {
  return [this, node](const Done& done) {
    cloud_.node_group_for_node(
        node, life_.guard([this, name = node.name, done](const Result<std::string>& group) {
          if (!group) return done(tl::unexpected(group.error()));
          view_.group_of[name] = *group;
          done({});
        }));
  };
}

std::deque<ClusterAutoscaler::Question> ClusterAutoscaler::questions_on_nodes() {
  std::deque<Question> questions;
  for (const NodeView& node : seen_.nodes) {
    questions.push_back(ask_group_of({node.provider_id, node.row.name}));
  }
  return questions;
}

std::deque<ClusterAutoscaler::Question> ClusterAutoscaler::questions_on_groups() {
  std::deque<Question> questions;
  for (GroupView& group : view_.groups) {
    questions.emplace_back([this, &group](const Done& done) {
      cloud_.target_size(group.id, life_.guard([&group, done](const Result<int32_t>& size) {
        if (!size) return done(tl::unexpected(size.error()));
        group.target = *size;
        done({});
      }));
    });
    if (!mind_.wants_instances(group.id, loop_.now())) {
      group.instances = mind_.instances_of(group.id);
      continue;
    }
    questions.emplace_back([this, &group](const Done& done) {
      cloud_.nodes(group.id, life_.guard([this, &group,
                                          done](const Result<std::vector<Instance>>& instances) {
        if (!instances) return done(tl::unexpected(instances.error()));
        group.instances = *instances;
        mind_.saw_instances(group.id, *instances, loop_.now());
        done({});
      }));
    });
  }
  return questions;
}

// Instances that are no nodes yet stand for nodes that are named like them.
std::deque<ClusterAutoscaler::Question> ClusterAutoscaler::questions_on_instances() {
  std::set<std::string> registered;
  for (const NodeView& node : seen_.nodes) registered.insert(node.provider_id);
  std::deque<Question> questions;
  for (const GroupView& group : view_.groups) {
    for (const Instance& instance : group.instances) {
      if (registered.contains(instance.id)) continue;
      questions.push_back(ask_group_of({instance.id, instance.id}));
    }
  }
  return questions;
}

std::deque<ClusterAutoscaler::Question> ClusterAutoscaler::questions_on_templates() {
  std::deque<Question> questions;
  for (GroupView& group : view_.groups) {
    if (!mind_.wants_template(group.id, seen_, view_)) continue;
    questions.emplace_back([this, &group](const Done& done) {
      cloud_.template_node_info(group.id, life_.guard([&group, done](const Result<NodeView>& node) {
        if (!node) return done(tl::unexpected(node.error()));
        group.template_node = *node;
        done({});
      }));
    });
  }
  return questions;
}

void ClusterAutoscaler::decide() {
  mind_.begin(std::move(seen_), std::move(view_), loop_.now());
  next_action();
}

void ClusterAutoscaler::next_action() {
  const std::optional<Action> action = mind_.next(loop_.now());
  wake_for_deletions();
  if (!action) {
    loops_ += 1;
    was_productive_ = mind_.was_productive();
    return finish();
  }
  perform(*action, [this, action = *action](const Outcome& outcome) {
    mind_.told(action, outcome, loop_.now());
    next_action();
  });
}

void ClusterAutoscaler::perform(const Action& action, const std::function<void(Outcome)>& then) {
  const auto tell = [this, action, then](const Outcome& outcome) {
    if (watcher_) watcher_(action, outcome);
    then(outcome);
  };
  const Done done = life_.guard([tell](const Status& status) { tell({status}); });
  const Then<double> quoted = life_.guard([tell](const Result<double>& price) {
    tell(price ? Outcome{{}, *price} : Outcome{tl::unexpected(price.error())});
  });
  const auto chosen = life_.guard([tell](const Result<std::vector<std::string>>& groups) {
    tell(groups ? Outcome{{}, 0, *groups} : Outcome{tl::unexpected(groups.error())});
  });
  const Instant now = loop_.now();
  switch (action.kind) {
    case Action::Kind::increase:
      return cloud_.increase_size(action.group, action.delta, done);
    case Action::Kind::decrease:
      return cloud_.decrease_target_size(action.group, action.delta, done);
    case Action::Kind::remove:
      return cloud_.delete_nodes(action.group, action.nodes, done);
    case Action::Kind::quote_node:
      return cloud_.node_price(action.node, now, now + k_priced_for, quoted);
    case Action::Kind::quote_pod:
      return cloud_.pod_price(action.pod, now, now + k_priced_for, quoted);
    case Action::Kind::choose:
      return cloud_.best_options(action.options, chosen);
    case Action::Kind::taint:
      return cluster_.taint(action.node.row.name, done);
    case Action::Kind::untaint:
      return cluster_.untaint(action.node.row.name, done);
    case Action::Kind::evict:
      return cluster_.evict(action.pod, done);
  }
}

void ClusterAutoscaler::wake_for_deletions() {
  const Instant next = mind_.deletions().next();
  if (next < k_last_instant) deletions_alarm_.wake_by(next);
}

void ClusterAutoscaler::step_deletions() {
  for (const Action& action : mind_.deletions().step(cluster_.look(), loop_.now())) {
    perform(action, [this, action](const Outcome& outcome) {
      mind_.deletions().told(action, outcome, loop_.now());
      wake_for_deletions();
    });
  }
  wake_for_deletions();
}

void ClusterAutoscaler::finish() {
  is_scanning_ = false;
  const Options& options = mind_.options();
  const bool at_once =
      options.frequent_loops_enabled && (is_wanted_ || std::exchange(was_productive_, false));
  loop_.after(at_once ? Duration{} : options.scan_interval, life_.guard([this, sleep = sleeps_] {
    if (sleep == sleeps_ && !is_scanning_) scan();
  }));
}

}  // namespace spillway::scaler
