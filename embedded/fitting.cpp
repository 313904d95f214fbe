#include "embedded/fitting.h"

#include <algorithm>

#include <fmt/format.h>

#include "embedded/document.h"

namespace spillway::embedded {
namespace {

using model::Node;

constexpr std::string_view k_unschedulable = "node(s) were unschedulable";
constexpr std::string_view k_taint = "node(s) had untolerated taint(s)";
constexpr std::string_view k_affinity = "node(s) didn't match Pod's node affinity/selector";
constexpr std::string_view k_apart = "node(s) didn't match pod anti-affinity rules";
constexpr std::string_view k_theirs = "node(s) didn't satisfy existing pods anti-affinity rules";
constexpr std::string_view k_near = "node(s) didn't match pod affinity rules";

std::vector<PodTerm> read_terms(const Node& pod, std::string_view which) {
  std::vector<PodTerm> terms;
  for (const Node& node : model::items_at(
           pod, {"spec", "affinity", which, "requiredDuringSchedulingIgnoredDuringExecution"})) {
    PodTerm term;
    term.topology = model::text_at(node, {"topologyKey"});
    const auto selector = read_selector(model::look(node, {"labelSelector"}));
    if (!selector) continue;  // selects no pods
    term.selector = *selector;
    for (const Node& space : model::items_at(node, {"namespaces"})) {
      term.spaces.push_back(space.text);
    }
    terms.push_back(std::move(term));
  }
  return terms;
}

void read_node_terms(const Node& pod, PodView& view) {
  const Node* required = model::look(
      pod, {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  if (required == nullptr) return;
  view.has_node_terms = true;
  for (const Node& term : model::items_at(*required, {"nodeSelectorTerms"})) {
    Selector labels = read_expressions(model::items_at(term, {"matchExpressions"}));
    Selector fields = read_expressions(model::items_at(term, {"matchFields"}));
    if (labels.empty() && fields.empty()) continue;  // an empty term matches nothing
    view.node_terms.emplace_back(std::move(labels), std::move(fields));
  }
}

bool selects(const PodTerm& term, const std::string& own_space, const PodView& other) {
  const bool in_space = term.spaces.empty() ? other.space == own_space
                                            : std::find(term.spaces.begin(), term.spaces.end(),
                                                        other.space) != term.spaces.end();
  return in_space && term.selector.matches(other.labels);
}

bool same_place(const PodTerm& term, const NodeView& a, const NodeView& b) {
  const std::string* here = find_pair(a.labels, term.topology);
  const std::string* there = find_pair(b.labels, term.topology);
  return here != nullptr && there != nullptr && *here == *there;
}

// Whether any pod that `found` accepts runs in the term's place around `node`.
template <class Found>
bool any_pod(const Loads& all, Found found) {
  for (const auto& [name, load] : all.by_node) {
    for (const auto& [key, other] : load.pods) {
      if (found(load.node, other)) return true;
    }
  }
  return false;
}

bool matches_node(const PodView& pod, const NodeView& node) {
  if (!pod.node_selector.matches(node.labels)) return false;
  if (!pod.has_node_terms) return true;
  const Pairs fields = {{"metadata.name", node.name}};
  return std::any_of(pod.node_terms.begin(), pod.node_terms.end(), [&](const auto& term) {
    return term.first.matches(node.labels) && term.second.matches(fields);
  });
}

bool is_near(const PodView& pod, const PodTerm& term, const NodeView& node, const Loads& all) {
  if (find_pair(node.labels, term.topology) == nullptr) return false;
  const bool is_there = any_pod(all, [&](const NodeView& on, const PodView& other) {
    return selects(term, pod.space, other) && same_place(term, node, on);
  });
  if (is_there) return true;
  // The first of its kind may go anywhere.
  return selects(term, pod.space, pod) && !any_pod(all, [&](const NodeView&, const PodView& other) {
           return selects(term, pod.space, other);
         });
}

std::string_view reason_of_pods(const PodView& pod, const NodeView& node, const Loads& all) {
  for (const PodTerm& term : pod.near) {
    if (!is_near(pod, term, node, all)) return k_near;
  }
  for (const PodTerm& term : pod.apart) {
    const bool meets = any_pod(all, [&](const NodeView& on, const PodView& other) {
      return selects(term, pod.space, other) && same_place(term, node, on);
    });
    if (meets) return k_apart;
  }
  if (all.with_apart == 0) return {};
  const bool is_unwanted = any_pod(all, [&](const NodeView& on, const PodView& other) {
    return std::any_of(other.apart.begin(), other.apart.end(), [&](const PodTerm& term) {
      return selects(term, other.space, pod) && same_place(term, node, on);
    });
  });
  return is_unwanted ? k_theirs : std::string_view();
}

std::vector<std::string> shortages(const PodView& pod, const NodeLoad& load) {
  std::vector<std::string> reasons;
  for (const auto& [resource, wanted] : pod.requests) {
    if (wanted == 0) continue;
    const auto has = load.node.allocatable.find(resource);
    const auto used = load.used.find(resource);
    const int64_t free = (has == load.node.allocatable.end() ? 0 : has->second) -
                         (used == load.used.end() ? 0 : used->second);
    if (wanted <= free) continue;
    reasons.push_back(resource == "pods" ? "Too many pods" : "Insufficient " + resource);
  }
  return reasons;
}

bool may_yield(std::string_view reason) {
  return reason.starts_with("Insufficient") || reason == "Too many pods" || reason == k_apart ||
         reason == k_theirs;
}

std::string histogram(const std::map<std::string, int>& reasons) {
  std::vector<std::string> parts;
  for (const auto& [reason, count] : reasons) parts.push_back(fmt::format("{} {}", count, reason));
  std::sort(parts.begin(), parts.end());
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

bool Toleration::tolerates(const Taint& taint) const {
  if (!effect.empty() && effect != taint.effect) return false;
  if (!key.empty() && key != taint.key) return false;
  if (op == "Exists") return true;
  return !key.empty() && value == taint.value;
}

std::vector<Toleration> read_tolerations(const Node& pod) {
  std::vector<Toleration> tolerations;
  for (const Node& node : model::items_at(pod, {"spec", "tolerations"})) {
    tolerations.push_back({std::string(model::text_at(node, {"key"})),
                           std::string(model::text_at(node, {"operator"})),
                           std::string(model::text_at(node, {"value"})),
                           std::string(model::text_at(node, {"effect"})),
                           model::integer_at(node, {"tolerationSeconds"}, -1)});
  }
  return tolerations;
}

PodView view_pod(const Node& pod) {
  PodView view;
  view.space = model::text_at(pod, {"metadata", "namespace"});
  view.labels = read_labels(model::look(pod, {"metadata", "labels"}));
  view.requests = requests_of(pod);
  view.tolerations = read_tolerations(pod);
  for (const Node& label : model::items_at(pod, {"spec", "nodeSelector"})) {
    view.node_selector.requirements.push_back({label.key, Requirement::Op::in, {label.text}});
  }
  read_node_terms(pod, view);
  view.near = read_terms(pod, "podAffinity");
  view.apart = read_terms(pod, "podAntiAffinity");
  return view;
}

NodeView view_node(const Node& node) {
  NodeView view;
  view.name = name_of(node);
  view.labels = read_labels(model::look(node, {"metadata", "labels"}));
  view.allocatable = read_amounts(model::look(node, {"status", "allocatable"}));
  view.is_unschedulable = model::boolean_at(node, {"spec", "unschedulable"});
  for (const Node& taint : model::items_at(node, {"spec", "taints"})) {
    view.taints.push_back({std::string(model::text_at(taint, {"key"})),
                           std::string(model::text_at(taint, {"value"})),
                           std::string(model::text_at(taint, {"effect"}))});
  }
  return view;
}

std::vector<std::string> reasons_against(const PodView& pod, const NodeLoad& load,
                                         const Loads& all) {
  const auto tolerates = [&](const Taint& taint) {
    return std::any_of(pod.tolerations.begin(), pod.tolerations.end(),
                       [&](const Toleration& one) { return one.tolerates(taint); });
  };
  if (load.node.is_unschedulable &&
      !tolerates({"node.kubernetes.io/unschedulable", "", "NoSchedule"})) {
    return {std::string(k_unschedulable)};
  }
  for (const Taint& taint : load.node.taints) {
    if (taint.effect != "PreferNoSchedule" && !tolerates(taint)) return {std::string(k_taint)};
  }
  if (!matches_node(pod, load.node)) return {std::string(k_affinity)};
  if (auto reasons = shortages(pod, load); !reasons.empty()) return reasons;
  const std::string_view reason = reason_of_pods(pod, load.node, all);
  if (!reason.empty()) return {std::string(reason)};
  return {};
}

std::string explain(const std::map<std::string, int>& reasons, size_t nodes) {
  if (nodes == 0) return "no nodes available to schedule pods";
  std::map<std::string, int> preemption;
  int left = static_cast<int>(nodes);
  int yielding = 0;
  for (const auto& [reason, count] : reasons) {
    if (may_yield(reason)) yielding = std::min(left, yielding + count);
  }
  if (yielding > 0) preemption["No preemption victims found for incoming pod"] = yielding;
  if (left > yielding) preemption["Preemption is not helpful for scheduling"] = left - yielding;
  return fmt::format(
      "0/{0} nodes are available: {1}. no new claims to deallocate, preemption: 0/{0} nodes are "
      "available: {2}.",
      nodes, histogram(reasons), histogram(preemption));
}

}  // namespace spillway::embedded
