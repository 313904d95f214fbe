#include "supply/offering.h"

#include <algorithm>
#include <iterator>

#include "supply/judge.h"
#include "supply/pending.h"
#include "supply/pool_draft.h"

namespace spillway::supply {
namespace {

constexpr std::string_view k_arch_label = "kubernetes.io/arch";

std::optional<Instant> sooner(std::optional<Instant> a, std::optional<Instant> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

model::Labels labels_of(const PoolKey& key, const OfferingPolicy& policy) {
  model::Labels labels = key.labels;
  labels.insert(labels.end(), policy.labels.add.begin(), policy.labels.add.end());
  const auto by_key = [](const model::Label& a, const model::Label& b) { return a.key < b.key; };
  std::sort(labels.begin(), labels.end(), by_key);
  if (model::find_label(labels, k_arch_label) == nullptr && key.arch != "unknown") {
    labels.push_back({std::string(k_arch_label), key.arch});
    std::sort(labels.begin(), labels.end(), by_key);
  }
  return labels;
}

model::Offer offer_of(const PoolDraft& draft, const Step& step, const OfferingPolicy& policy) {
  model::Offer offer;
  offer.pool = draft.id;
  offer.shape = step.shape;
  offer.price = step.price.value_or(policy.price);
  offer.labels = labels_of(draft.key, policy);
  offer.taints = draft.key.taints;
  offer.place = policy.place;
  offer.network = policy.network;
  offer.energy = policy.energy;
  offer.visibility = step.visibility.value_or(policy.visibility);
  offer.terms = policy.terms;
  offer.id = offer_id(offer, step.name);
  return offer;
}

bool any_offered(const PoolDraft& draft) {
  return std::any_of(draft.members.begin(), draft.members.end(),
                     [](const PoolDraft::Member& member) { return member.offered; });
}

// Why this step is no offer; empty when it is one.
std::string why_not(const PoolDraft& draft, const Step& step, const std::string& withheld) {
  if (!withheld.empty()) return withheld;
  if (!any_offered(draft)) return "none of its nodes is offered now";
  if (!draft.key.gpus.empty() && step.shape.gpus.empty() && !step.gpu_nodes) {
    return "its nodes have GPUs and the step has none; gpu_nodes: true would allow it";
  }
  const std::string_view lacking = draft.pool.node.first_short(step.shape);
  if (lacking.empty()) return {};
  return fmt::format("its largest node lacks {}: it has {}", lacking, to_text(draft.pool.node));
}

std::string why_withheld(const View& view, const OfferingPolicy& policy, Instant now) {
  if (!view.lost().empty()) {
    const auto& [pod, problem] = *view.lost().begin();
    return fmt::format("pod {} cannot be read, and may need room anywhere: {}", pod, problem);
  }
  return is_open(policy.hours, now) ? "" : "it is outside the policy's hours";
}

// When the first of the nodes that rest has rested long enough.
std::optional<Instant> first_rested(const std::vector<PoolDraft>& drafts, Instant now) {
  std::optional<Instant> first;
  for (const PoolDraft& draft : drafts) {
    for (const PoolDraft::Member& member : draft.members) {
      if (member.rests_until > now) first = sooner(first, member.rests_until);
    }
  }
  return first;
}

}  // namespace

Offering offer(const View& view, const OfferingPolicy& policy, const ClusterId& cluster,
               Instant now, std::span<const Sold> sold) {
  Offering offering;
  if (!view.is_known()) {
    offering.explanation.withheld = "the cluster's nodes and pods are not listed yet";
    return offering;
  }
  offering.known = true;
  const std::optional<Instant> until = next_change(policy.hours, now);
  Explanation& explanation = offering.explanation;
  explanation.withheld = why_withheld(view, policy, now);
  std::vector<PoolDraft> drafts = draft_pools(view, policy, cluster, now, explanation.nodes);
  offering.changes_at = sooner(until, first_rested(drafts, now));
  keep_room(view, drafts, explanation);
  for (PoolDraft& draft : drafts) {
    apply_quota(draft, policy.quota);
    keep_sold(draft.pool.capacity, policy.ladder);
    keep_sold(draft.pool.node, policy.ladder);
  }
  lend_resting(sold, now, drafts, explanation);
  keep_owed(sold, drafts, explanation);
  std::vector<model::Pool> kept = without_nodes(sold, drafts);
  for (PoolDraft& draft : drafts) {
    for (const Step& step : policy.ladder) {
      StepVerdict verdict{draft.id, step.name, {}, why_not(draft, step, explanation.withheld)};
      if (verdict.sentence.empty()) {
        model::Offer made = offer_of(draft, step, policy);
        made.until = until;
        verdict.offer = made.id;
        verdict.sentence = "offered as " + made.id.text;
        offering.supply.offers.push_back(std::move(made));
      }
      explanation.steps.push_back(std::move(verdict));
    }
    offering.supply.pools.push_back(std::move(draft.pool));
  }
  std::move(kept.begin(), kept.end(), std::back_inserter(offering.supply.pools));
  return offering;
}

}  // namespace spillway::supply
