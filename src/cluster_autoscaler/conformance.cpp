#include "cluster_autoscaler/conformance.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "cluster_autoscaler/protobuf.h"

namespace spillway::cluster_autoscaler {
namespace {

using net::GrpcCode;

constexpr int64_t k_most_ms = 5000;  // the caller's default patience
constexpr int64_t k_state_creating = 2;
constexpr int64_t k_last_state = 3;
constexpr std::string_view k_foreign_id = "conformance://somebody-elses/node-1";

// Empty: it holds. A rule that cannot be tried says so by a Skip.
struct Skip {
  std::string why;
};
using Outcome = tl::expected<std::string, Skip>;

Outcome holds() { return std::string(); }
Outcome skip(std::string why) { return tl::unexpected(Skip{std::move(why)}); }

struct Trial {
  CloudClient& client;
  const ConformanceOptions& options;
  std::string group;  // may grow by two
  int32_t before = 0;
};

std::string refusal(const char* what, const net::GrpcAnswer& told) {
  return fmt::format("{}: {} ({})", what, told.reason, static_cast<int>(told.code));
}

// Nothing can be counted from one below zero.
Told<int32_t> target_of(CloudClient& client, const std::string& group) {
  auto size = client.target(group);
  if (!size || *size >= 0) return size;
  return tl::unexpected(
      net::GrpcAnswer{GrpcCode::internal, fmt::format("the target is {}", *size), {}});
}

// The target is as it was; else what it is.
std::string target_is(Trial& trial, int32_t expected, const char* after) {
  const auto size = target_of(trial.client, trial.group);
  if (!size) return refusal("TargetSize", size.error());
  if (*size == expected) return {};
  return fmt::format("after {} the target is {}, not {}", after, *size, expected);
}

Outcome groups_are_listed(Trial& trial) {
  const auto groups = trial.client.groups();
  if (!groups) return refusal("NodeGroups", groups.error());
  std::set<std::string> ids;
  for (const GroupSeen& group : *groups) {
    if (group.id.empty()) return "a group has no id";
    if (!ids.insert(group.id).second) return "two groups are called " + in_quotes(group.id);
    if (group.min < 0 || group.min > group.max) {
      return fmt::format("{} is between {} and {}", in_quotes(group.id), group.min, group.max);
    }
  }
  return holds();
}

Outcome ids_outlive_refresh(Trial& trial) {
  const auto before = trial.client.groups();
  const auto refreshed = trial.client.refresh();
  const auto after = trial.client.groups();
  if (!refreshed) return refusal("Refresh", refreshed.error());
  if (!before || !after) return "NodeGroups fails";
  const bool is_there = std::any_of(after->begin(), after->end(), [&trial](const GroupSeen& group) {
    return group.id == trial.group;
  });
  if (trial.group.empty()) return skip("there is no group");
  return is_there ? std::string() : "the group is gone after Refresh";
}

Outcome refresh_is_quick(Trial& trial) {
  const int64_t start = trial.options.clock_ms();
  const auto told = trial.client.refresh();
  const int64_t took = trial.options.clock_ms() - start;
  if (!told) return refusal("it fails, which stops the whole loop", told.error());
  return took < 1000 ? std::string() : fmt::format("it took {} ms", took);
}

Outcome foreign_nodes_are_nobodys(Trial& trial) {
  const auto told = trial.client.group_of({std::string(k_foreign_id), "node-1"});
  if (!told) return refusal("it is an error, which may stop the loop", told.error());
  return told->empty() ? std::string() : "it is said to belong to " + in_quotes(*told);
}

Outcome unknown_groups_are_errors(Trial& trial) {
  const std::string none = "conformance-no-such-group";
  if (trial.client.target(none)) return "TargetSize of a group that is not there is no error";
  if (trial.client.increase(none, 1))
    return "IncreaseSize of a group that is not there is no error";
  if (trial.client.nodes(none)) return "Nodes of a group that is not there is no error";
  return holds();
}

Outcome templates_are_whole(Trial& trial) {
  const auto told = trial.client.template_node(trial.group);
  if (!told && told.error().code == GrpcCode::unimplemented) {
    return "unimplemented: a group without nodes can never grow";
  }
  if (!told) return refusal("TemplateNodeInfo", told.error());
  const std::string& bytes = told->node.empty() ? told->node_old : told->node;
  const NodeSeen node = read_node_bytes(bytes);
  if (bytes.empty() || !node.is_whole) return "it is no core/v1 Node";
  for (const char* name : {"cpu", "memory", "pods"}) {
    const bool has = std::any_of(node.allocatable.begin(), node.allocatable.end(),
                                 [name](const auto& pair) { return pair.first == name; });
    if (!has) return fmt::format("it has no allocatable {}", name);
  }
  return holds();
}

Outcome templates_are_for_both(Trial& trial) {
  const auto told = trial.client.template_node(trial.group);
  if (!told) return skip("there is no template");
  if (told->node.empty()) return "clients from 1.35 on find none (field 2)";
  if (told->node_old.empty()) return "clients up to 1.33 find none (field 1)";
  return told->node == told->node_old ? std::string() : "the two generations get different nodes";
}

// Answered in part, options are taken for zero.
Outcome options_are_not_answered(Trial& trial) {
  const auto told = trial.client.options(trial.group);
  if (!told && told.error().code == GrpcCode::unimplemented) return holds();
  if (!told) return refusal("it fails otherwise than by Unimplemented", told.error());
  return "it is answered: clients from 1.35 on then take the start-up time of nodes for zero";
}

Outcome nonsense_changes_nothing(Trial& trial) {
  for (const int32_t delta : {0, -1, INT32_MIN}) {
    if (trial.client.increase(trial.group, delta)) {
      return fmt::format("IncreaseSize by {} is no error", delta);
    }
  }
  if (trial.client.increase(trial.group, INT32_MAX)) {
    return "IncreaseSize beyond the maximum is no error";
  }
  if (trial.client.decrease(trial.group, 1)) return "DecreaseTargetSize by +1 is no error";
  return target_is(trial, trial.before, "calls that were refused");
}

Outcome increase_raises_the_target(Trial& trial) {
  const int64_t start = trial.options.clock_ms();
  const auto told = trial.client.increase(trial.group, 2);
  const int64_t took = trial.options.clock_ms() - start;
  if (!told) return refusal("IncreaseSize", told.error());
  if (took > k_most_ms) return fmt::format("it took {} ms; the caller waits {}", took, k_most_ms);
  return target_is(trial, trial.before + 2, "IncreaseSize by 2");
}

Outcome units_in_flight_are_listed(Trial& trial) {
  const auto nodes = trial.client.nodes(trial.group);
  const auto size = target_of(trial.client, trial.group);
  if (!nodes || !size) return "Nodes or TargetSize fails";
  const auto staying = std::count_if(nodes->begin(), nodes->end(), [](const InstanceSeen& one) {
    return one.state != k_last_state;
  });
  if (staying != *size) return fmt::format("{} are listed, the target is {}", staying, *size);
  std::set<std::string> ids;
  for (const InstanceSeen& one : *nodes) {
    if (one.id.empty()) return "an instance has no id";
    if (!ids.insert(one.id).second) return "two instances are called " + in_quotes(one.id);
  }
  return holds();
}

Outcome instances_have_a_state(Trial& trial) {
  const auto nodes = trial.client.nodes(trial.group);
  if (!nodes) return refusal("Nodes", nodes.error());
  for (const InstanceSeen& one : *nodes) {
    if (one.state < 1 || one.state > k_last_state) {
      return in_quotes(one.id) + " has no state: an error that it has would be dropped";
    }
    if (!one.error_code.empty() && one.state != k_state_creating) {
      return in_quotes(one.id) + " has an error in a state in which nobody heeds it";
    }
  }
  return holds();
}

// The caller makes placeholders whose name is the provider id.
Outcome instances_are_known_by_both_names(Trial& trial) {
  const auto nodes = trial.client.nodes(trial.group);
  if (!nodes || nodes->empty()) return skip("nothing is listed");
  for (const InstanceSeen& one : *nodes) {
    for (const demand::NodeRef& ref : {demand::NodeRef{one.id, ""}, demand::NodeRef{one.id, one.id},
                                       demand::NodeRef{"", one.id}}) {
      const auto told = trial.client.group_of(ref);
      if (!told) return refusal("NodeGroupForNode", told.error());
      if (*told != trial.group) return in_quotes(one.id) + " is not known to be of the group";
    }
  }
  return holds();
}

Outcome foreign_nodes_are_not_deleted(Trial& trial) {
  const auto size = target_of(trial.client, trial.group);
  if (trial.client.remove(trial.group, {std::string(k_foreign_id), "node-1"})) {
    return "DeleteNodes of a node that is not theirs is no error";
  }
  return target_is(trial, size.value_or(-1), "that");
}

bool is_any_coming(const std::vector<InstanceSeen>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const InstanceSeen& one) { return one.state == k_state_creating; });
}

// One that is still on its way: it may arrive between two calls, and there is nothing to cancel.
Outcome decrease_cancels(Trial& trial) {
  const auto nodes = trial.client.nodes(trial.group);
  const auto size = target_of(trial.client, trial.group);
  if (!nodes || !size) return "Nodes or TargetSize fails";
  if (!is_any_coming(*nodes)) return skip("nothing is on its way any more");
  if (const auto told = trial.client.decrease(trial.group, -1); !told) {
    const auto later = trial.client.nodes(trial.group);
    if (later && !is_any_coming(*later)) return skip("nothing is on its way any more");
    return refusal("DecreaseTargetSize", told.error());
  }
  return target_is(trial, *size - 1, "DecreaseTargetSize by -1");
}

Outcome decrease_deletes_no_node(Trial& trial) {
  const auto size = target_of(trial.client, trial.group);
  if (!size) return refusal("TargetSize", size.error());
  if (trial.client.decrease(trial.group, -*size - 1)) {
    return "more can be cancelled than there is";
  }
  return target_is(trial, *size, "that");
}

Outcome deleting_is_idempotent(Trial& trial) {
  const auto nodes = trial.client.nodes(trial.group);
  if (!nodes) return refusal("Nodes", nodes.error());
  const auto one = std::find_if(nodes->begin(), nodes->end(),
                                [](const InstanceSeen& i) { return i.state != k_last_state; });
  if (one == nodes->end()) return skip("nothing is left to delete");
  const int32_t size = target_of(trial.client, trial.group).value_or(-1);
  for (const char* turn : {"DeleteNodes", "DeleteNodes again"}) {
    if (const auto told = trial.client.remove(trial.group, {one->id, one->id}); !told) {
      return refusal(turn, told.error());
    }
    if (auto wrong = target_is(trial, size - 1, turn); !wrong.empty()) return wrong;
  }
  return holds();
}

Outcome prices_follow_the_window(Trial& trial) {
  const auto told = trial.client.template_node(trial.group);
  if (!told) return skip("there is no template");
  const NodeSeen node = read_node_bytes(told->node.empty() ? told->node_old : told->node);
  const auto hour = trial.client.node_price(node.labels, trial.options.now, 3600);
  const auto day = trial.client.node_price(node.labels, trial.options.now, 24 * 3600);
  if (!hour && hour.error().code == GrpcCode::unimplemented) return skip("there are no prices");
  if (!hour || !day) return "a node by its template's labels has no price";
  if (*hour < 0 || *day < *hour) return fmt::format("an hour {}, a day {}", *hour, *day);
  return holds();
}

Outcome pods_have_a_price(Trial& trial) {
  const ProtoWriter quantity = std::move(ProtoWriter().text(1, "1"));
  const ProtoWriter requests = std::move(ProtoWriter().entry(2, "cpu", quantity));
  const ProtoWriter container = std::move(ProtoWriter().message(8, requests));
  const std::string pod = ProtoWriter().message(2, ProtoWriter().message(2, container)).take();
  const auto price = trial.client.pod_price(pod, trial.options.now, 3600);
  if (!price && price.error().code == GrpcCode::unimplemented) return skip("there are no prices");
  if (!price) return refusal("PricingPodPrice", price.error());
  return *price > 0 ? std::string() : "it is nothing: the score then means nothing";
}

struct Rule {
  std::string_view name;
  Outcome (*check)(Trial&);
  bool needs_group = true;
};

constexpr std::array<Rule, 19> k_rules{
    {{"groups-are-listed", groups_are_listed, false},
     {"refresh-is-quick", refresh_is_quick, false},
     {"ids-outlive-refresh", ids_outlive_refresh},
     {"foreign-nodes-are-nobodys", foreign_nodes_are_nobodys, false},
     {"unknown-groups-are-errors", unknown_groups_are_errors, false},
     {"templates-are-whole", templates_are_whole},
     {"templates-are-for-both-generations", templates_are_for_both},
     {"options-are-not-answered", options_are_not_answered},
     {"prices-follow-the-window", prices_follow_the_window},
     {"pods-have-a-price", pods_have_a_price, false},
     {"nonsense-changes-nothing", nonsense_changes_nothing},
     {"increase-raises-the-target", increase_raises_the_target},
     {"units-in-flight-are-listed", units_in_flight_are_listed},
     {"instances-have-a-state", instances_have_a_state},
     {"instances-are-known-by-both-names", instances_are_known_by_both_names},
     {"foreign-nodes-are-not-deleted", foreign_nodes_are_not_deleted},
     {"decrease-cancels", decrease_cancels},
     {"decrease-deletes-no-node", decrease_deletes_no_node},
     {"deleting-is-idempotent", deleting_is_idempotent}}};

void find_group(Trial& trial) {
  const auto groups = trial.client.groups();
  if (!groups) return;
  for (const GroupSeen& group : *groups) {
    if (!trial.options.group.empty() && group.id != trial.options.group) continue;
    const auto size = target_of(trial.client, group.id);
    if (!size || int64_t{group.max} - *size < 2) continue;
    trial.group = group.id;
    trial.before = *size;
    return;
  }
}

// What is left of the trial is given back, whatever was broken.
void clean_up(Trial& trial) {
  if (trial.group.empty()) return;
  const auto nodes = trial.client.nodes(trial.group);
  if (!nodes) return;
  int32_t extra = target_of(trial.client, trial.group).value_or(trial.before) - trial.before;
  for (auto one = nodes->rbegin(); one != nodes->rend() && extra > 0; ++one) {
    if (one->state == k_last_state) continue;
    if (trial.client.remove(trial.group, {one->id, one->id})) extra -= 1;
  }
}

}  // namespace

std::vector<RuleFinding> check_cloud_provider(CloudClient& client,
                                              const ConformanceOptions& options) {
  Trial trial{client, options, {}, 0};
  find_group(trial);
  std::vector<RuleFinding> findings;
  for (const Rule& rule : k_rules) {
    RuleFinding finding{rule.name, Verdict::held, {}};
    if (rule.needs_group && trial.group.empty()) {
      finding = {rule.name, Verdict::not_tried, "there is no group that may grow by two"};
    } else if (Outcome outcome = rule.check(trial); !outcome) {
      finding = {rule.name, Verdict::not_tried, outcome.error().why};
    } else if (!outcome->empty()) {
      finding = {rule.name, Verdict::broken, std::move(*outcome)};
    }
    options.told(finding);
    findings.push_back(std::move(finding));
  }
  clean_up(trial);
  return findings;
}

std::vector<std::string_view> rule_names() {
  std::vector<std::string_view> names;
  for (const Rule& rule : k_rules) names.push_back(rule.name);
  return names;
}

}  // namespace spillway::cluster_autoscaler
