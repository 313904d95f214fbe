#include "supply/judge.h"

#include <algorithm>
#include <tuple>

#include "supply/pool_draft.h"

namespace spillway::supply {
namespace {

const TaintRule* rule_for(const model::Taint& taint, const OfferingPolicy& policy) {
  for (const TaintRule& rule : policy.taints) {
    if (rule.key == taint.key && (!rule.value || *rule.value == taint.value) &&
        (!rule.effect || *rule.effect == taint.effect)) {
      return &rule;
    }
  }
  return nullptr;
}

// Taints that say how a node is at the moment, and not whose it is: from the node's controllers,
// the cloud's, and autoscalers that are about to remove it. A cordoned node and one that is not
// Ready always have one of the first.
bool is_passing(const model::Taint& taint) {
  return taint.key.starts_with("node.kubernetes.io/") ||
         taint.key.starts_with("node.cloudprovider.kubernetes.io/") ||
         taint.key == "ToBeDeletedByClusterAutoscaler" || taint.key == "karpenter.sh/disrupted";
}

const model::Taint* unwelcome_taint(const NodeRow& row, const OfferingPolicy& policy,
                                    bool passing) {
  for (const model::Taint& taint : row.taints) {
    const bool soft = taint.effect == model::TaintEffect::prefer_no_schedule;
    if (!soft && is_passing(taint) == passing && rule_for(taint, policy) == nullptr) return &taint;
  }
  return nullptr;
}

NodeVerdict verdict(const NodeRow& row, NodeReason reason, std::string sentence) {
  return {row.name, reason, {}, {}, std::move(sentence)};
}

// Those that are well.
model::Counts row_gpus(const NodeRow& row, const Gross& gross) {
  return by_model(row.allocatable, gross.gpus).gpus;
}

NodeVerdict without_gpus(const NodeRow& row, const Gross& gross) {
  return verdict(row, NodeReason::without_gpus,
                 fmt::format("its GPUs ({}) are not there: is their device plugin up?",
                             gross.gpus.front().model));
}

}  // namespace

Instant rests_until(const View::Place& place, Instant now) {
  const bool is_wanted = place.row && !place.row->cordoned && !place.row->going;
  const bool rests = is_wanted && place.ill_since && *place.ill_since <= now;
  return rests ? *place.ill_since + k_rest : Instant{};
}

PoolKey key_of(const NodeRow& row, const Gross& gross, const OfferingPolicy& policy) {
  PoolKey key{row.arch, gross.size, gross.gpus, {}, {}};
  model::Resources sold = gross.size;
  keep_sold(sold, policy.ladder);
  key.size.extended = std::move(sold.extended);
  for (const model::Label& label : row.labels) {
    const auto& pass = policy.labels.pass;
    if (std::find(pass.begin(), pass.end(), label.key) != pass.end()) key.labels.push_back(label);
  }
  for (const model::Taint& taint : row.taints) {
    const TaintRule* rule = rule_for(taint, policy);
    if (rule != nullptr && rule->pass) key.taints.push_back(taint);
  }
  const auto in_order = [](const model::Taint& t) { return std::tie(t.key, t.effect); };
  std::sort(
      key.taints.begin(), key.taints.end(),
      [&](const model::Taint& a, const model::Taint& b) { return in_order(a) < in_order(b); });
  const auto again = std::unique(
      key.taints.begin(), key.taints.end(),
      [&](const model::Taint& a, const model::Taint& b) { return in_order(a) == in_order(b); });
  key.taints.erase(again, key.taints.end());
  return key;
}

std::optional<NodeVerdict> rule_out(const NodeRow& row, const Gross& gross,
                                    const OfferingPolicy& policy) {
  if (row.is_virtual) {
    return verdict(row, NodeReason::is_virtual, "virtual: what it has is another cluster's");
  }
  for (const model::LabelConstraint& constraint : policy.nodes) {
    if (model::holds(constraint, row.labels)) continue;
    return verdict(
        row, NodeReason::not_for_sale,
        fmt::format("not for sale: the policy's nodes ask otherwise of label {}", constraint.key));
  }
  if (!row.problem.empty()) {
    return verdict(row, NodeReason::unreadable,
                   fmt::format("its object cannot be read: {}", row.problem));
  }
  if (const model::Taint* taint = unwelcome_taint(row, policy, false)) {
    return verdict(
        row, NodeReason::tainted,
        fmt::format("taint {} keeps strangers away; the policy's taints may allow it", taint->key));
  }
  if (!last_step(policy, gross.gpus, gross.empty)) {
    if (gross.size.gpus.empty() && !gross.gpus.empty()) return without_gpus(row, gross);
    return verdict(
        row, NodeReason::too_small,
        fmt::format("no step of the ladder fits it, even empty: {}", to_text(gross.empty)));
  }
  return std::nullopt;
}

NodeVerdict judge(const View::Place& place, const Gross& gross, const OfferingPolicy& policy) {
  const NodeRow& row = *place.row;
  if (row.going) return verdict(row, NodeReason::going, "it is being deleted");
  if (row.cordoned) return verdict(row, NodeReason::cordoned, "cordoned");
  if (!row.ready) return verdict(row, NodeReason::not_ready, "not Ready");
  if (const model::Taint* taint = unwelcome_taint(row, policy, true)) {
    return verdict(row, NodeReason::tainted, fmt::format("out for now: taint {}", taint->key));
  }
  if (!place.unreadable.empty()) {
    const auto& [pod, problem] = *place.unreadable.begin();
    return verdict(row, NodeReason::unreadable_pod,
                   fmt::format("pod {} on it cannot be read: {}", pod, problem));
  }
  if (!last_step(policy, gross.gpus, gross.now)) {
    const bool had_gpus = !gross.size.gpus.empty();
    if (had_gpus && row_gpus(row, gross).empty()) return without_gpus(row, gross);
    return verdict(row, NodeReason::full,
                   fmt::format("{} own pods leave no room for a step of the ladder: {}",
                               place.own.pods(), to_text(gross.now)));
  }
  NodeVerdict offered =
      verdict(row, NodeReason::offered, fmt::format("offered: {}", to_text(gross.now)));
  offered.gross = gross.now;
  return offered;
}

}  // namespace spillway::supply
