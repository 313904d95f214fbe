#include "supply/offering.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "property/supply/random_cluster.h"

namespace spillway::supply {
namespace {

struct Scene {
  PlainCluster cluster;
  OfferingPolicy policy;
  View view;
  Offering offering;
};

Scene any_scene() {
  Scene scene;
  scene.cluster = any_cluster(scene.view);
  scene.policy = any_policy();
  RC_ASSERT(validate(scene.policy).has_value());
  scene.offering = offer(scene.view, scene.policy, k_cluster, k_now);
  return scene;
}

const model::Pool& pool_of(const Offering& offering, const PoolId& id) {
  for (const model::Pool& pool : offering.supply.pools) {
    if (pool.id == id) return pool;
  }
  RC_FAIL("a verdict names a pool that is not there");
}

bool may_be_offered(const Scene& scene, const NodeRow& node) {
  for (const auto& [key, pod] : scene.cluster.pods) {
    const bool own_here = !pod.guest && pod.state == PodState::bound && pod.node == node.name;
    if (own_here && !pod.problem.empty()) return false;
  }
  const bool blocked =
      std::any_of(node.taints.begin(), node.taints.end(), [&scene](const model::Taint& taint) {
        const bool allowed = !scene.policy.taints.empty() && taint.key == "team";
        return taint.effect != model::TaintEffect::prefer_no_schedule && !allowed;
      });
  const bool selected = scene.policy.nodes.empty() || model::find_label(node.labels, "zone");
  return node.ready && !node.cordoned && !node.going && !node.is_virtual && node.problem.empty() &&
         !blocked && selected;
}

// The promise of the room: in no resource more than allocatable − own requests − headroom, summed
// over nodes that may be sold.
RC_GTEST_PROP(Offering, NeverExceedsWhatIsFree, ()) {
  const Scene scene = any_scene();
  std::map<PoolId, Amounts> free;
  for (const NodeVerdict& verdict : scene.offering.explanation.nodes) {
    const NodeRow& node = scene.cluster.nodes.at(verdict.node);
    if (verdict.reason != NodeReason::offered) continue;
    RC_ASSERT(may_be_offered(scene, node));
    for (const auto& [name, amount] : plain_gross(scene.cluster, node, scene.policy)) {
      free[verdict.pool][name] += amount;
    }
  }
  for (const model::Pool& pool : scene.offering.supply.pools) {
    RC_ASSERT(covers(free[pool.id], amounts_of(pool.capacity)));
  }
}

bool has_gpus(const NodeRow& node) {
  const auto is_gpu = [](const model::Count& c) { return c.name == "nvidia.com/gpu"; };
  const auto& extended = node.allocatable.extended;
  return std::any_of(extended.begin(), extended.end(), is_gpu) ||
         std::any_of(node.devices.begin(), node.devices.end(), is_gpu) ||
         model::find_label(node.labels, "nvidia.com/gpu.product") != nullptr;
}

// The last step for which there is room; empty: none.
std::string last_fitting(const Scene& scene, const NodeRow& node, const Amounts& room) {
  std::string last;
  for (const Step& step : scene.policy.ladder) {
    const bool sold_there = !has_gpus(node) || step.gpu_nodes || !step.shape.gpus.empty();
    if (sold_there && covers(room, amounts_of(step.shape))) last = step.name;
  }
  return last;
}

// And no less, when nobody waits and nothing is capped: what may be sold is.
RC_GTEST_PROP(Offering, OffersAllThatIsFree, ()) {
  Scene scene = any_scene();
  for (const auto& [key, pod] : scene.cluster.pods) {
    if (pod.state == PodState::pending || pod.state == PodState::gated) scene.view.remove_pod(key);
  }
  scene.policy.quota = {};
  const Offering offering = offer(scene.view, scene.policy, k_cluster, k_now);
  Amounts free;
  for (const auto& [name, node] : scene.cluster.nodes) {
    const Amounts gross = plain_gross(scene.cluster, node, scene.policy);
    if (!may_be_offered(scene, node) || last_fitting(scene, node, gross).empty()) continue;
    for (const auto& [resource, amount] : gross) free[resource] += amount;
  }
  Amounts offered;
  for (const model::Pool& pool : offering.supply.pools) {
    for (const auto& [name, amount] : amounts_of(pool.capacity)) offered[name] += amount;
  }
  for (const char* name : {"memory", "pods", "storage"}) RC_ASSERT(offered[name] == free[name]);
  // A pool can say no more than this of anything; with two such nodes in one there is more.
  if (free["cpu"] <= model::k_max_amount) RC_ASSERT(offered["cpu"] == free["cpu"]);
  for (const Step& step : scene.policy.ladder) {
    for (const model::Count& gpu : step.shape.gpus) {
      RC_ASSERT(offered["gpu " + gpu.name] == free["gpu " + gpu.name]);
    }
  }
}

// Whatever the order and the history, the same cluster is offered in the same way.
RC_GTEST_PROP(Offering, DependsOnWhatIsThereNow, ()) {
  const Scene scene = any_scene();
  const Offering again = offer(scene.cluster.fresh(), scene.policy, k_cluster, k_now);
  RC_ASSERT(again.supply == scene.offering.supply);
  RC_ASSERT(again.explanation == scene.offering.explanation);
}

RC_GTEST_PROP(Offering, IsWhatABrokerTakes, ()) {
  const Scene scene = any_scene();
  const Status valid = validate(scene.offering.supply);
  RC_ASSERT(valid.has_value());
}

// No offer is larger than what one node that is offered really has left.
RC_GTEST_PROP(Offering, FitsOneNode, ()) {
  const Scene scene = any_scene();
  for (const model::Offer& offer : scene.offering.supply.offers) {
    bool found = false;
    for (const NodeVerdict& verdict : scene.offering.explanation.nodes) {
      if (verdict.reason != NodeReason::offered || verdict.pool != offer.pool) continue;
      const NodeRow& node = scene.cluster.nodes.at(verdict.node);
      const Amounts gross = plain_gross(scene.cluster, node, scene.policy);
      const model::Resources& one = pool_of(scene.offering, offer.pool).node;
      found = found || (covers(gross, amounts_of(offer.shape)) && covers(gross, amounts_of(one)) &&
                        gross.at("cpu") == one.cpu_millis && gross.at("pods") == one.pods &&
                        gross.at("memory") == one.memory_bytes);
    }
    RC_ASSERT(found);
  }
}

bool sells_fpgas(const OfferingPolicy& policy) {
  return std::any_of(policy.ladder.begin(), policy.ladder.end(),
                     [](const Step& step) { return !step.shape.extended.empty(); });
}

// All nodes of a pool are alike: in architecture, size, GPUs, and the labels and taints that are
// promised.
RC_GTEST_PROP(Offering, PoolsNodesOfOneShape, ()) {
  const Scene scene = any_scene();
  std::map<PoolId, const NodeRow*> first;
  for (const NodeVerdict& verdict : scene.offering.explanation.nodes) {
    if (verdict.pool.empty()) continue;
    const NodeRow& node = scene.cluster.nodes.at(verdict.node);
    const NodeRow& other = *first.emplace(verdict.pool, &node).first->second;
    RC_ASSERT(node.arch == other.arch);
    const auto when_empty = [&scene](const NodeRow& row) {
      Amounts all = plain_gross(PlainCluster{}, whole(row), scene.policy);
      std::erase_if(all, [&scene](const auto& entry) {
        return entry.first == "example.com/fpga" && !sells_fpgas(scene.policy);
      });
      return all;
    };
    RC_ASSERT(!last_fitting(scene, node, when_empty(node)).empty());
    RC_ASSERT(when_empty(node) == when_empty(other));
    RC_ASSERT(has_gpus(node) == has_gpus(other));
    if (has_gpus(node)) {
      RC_ASSERT(sold_name(node, "nvidia.com/gpu") == sold_name(other, "nvidia.com/gpu"));
    }
    if (!scene.policy.labels.pass.empty()) {
      const std::string* zone = model::find_label(node.labels, "zone");
      const std::string* others = model::find_label(other.labels, "zone");
      RC_ASSERT((zone == nullptr) == (others == nullptr));
      if (zone != nullptr) RC_ASSERT(*zone == *others);
    }
  }
}

// Law 7: every node and every step of every pool has its reason, and the reasons add up.
RC_GTEST_PROP(Offering, ExplainsEveryNodeAndStep, ()) {
  const Scene scene = any_scene();
  const Explanation& why = scene.offering.explanation;
  RC_ASSERT(why.nodes.size() == scene.cluster.nodes.size());
  RC_ASSERT(why.steps.size() == scene.offering.supply.pools.size() * scene.policy.ladder.size());
  size_t offers = 0;
  for (const StepVerdict& step : why.steps) {
    RC_ASSERT(!step.sentence.empty());
    if (!step.offer.empty()) ++offers;
  }
  for (const NodeVerdict& node : why.nodes) RC_ASSERT(!node.sentence.empty());
  RC_ASSERT(offers == scene.offering.supply.offers.size());
  RC_ASSERT(scene.offering.supply.offers.empty() || why.withheld.empty());
}

// Another own pod, wherever and however, never makes more be offered in any pool.
RC_GTEST_PROP(Offering, NeverGrowsByAnOwnPod, ()) {
  Scene scene = any_scene();
  PodRow pod = any_pod("ns9/new");
  scene.view.put(pod);
  const Offering after = offer(scene.view, scene.policy, k_cluster, k_now);
  Amounts before_sum;
  Amounts after_sum;
  for (const model::Pool& pool : scene.offering.supply.pools) {
    for (const auto& [name, amount] : amounts_of(pool.capacity)) before_sum[name] += amount;
  }
  for (const model::Pool& pool : after.supply.pools) {
    for (const auto& [name, amount] : amounts_of(pool.capacity)) after_sum[name] += amount;
  }
  // A full node no longer takes part in what pending pods are kept room in; without any the sum of
  // each resource only falls.
  if (scene.view.waiting().empty()) RC_ASSERT(covers(before_sum, after_sum));
  RC_ASSERT(after.supply.offers.size() <= scene.offering.supply.offers.size());
}

// Nothing is sold twice: what all pools have on sale, or have sold, never comes to more than their
// nodes have, or than is sold already; also when the policy was another one when it was sold. And
// no pool falls below what it sold itself for what another did.
RC_GTEST_PROP(Offering, OwesWhatItSoldWhereverTheNodesWent, ()) {
  const Scene scene = any_scene();
  const OfferingPolicy policy = one_in(3) ? scene.policy : any_policy();
  const std::vector<Sold> sold = any_sold(scene.offering.supply.pools);
  const Offering plain = offer(scene.view, policy, k_cluster, k_now);
  const Offering owing = offer(scene.view, policy, k_cluster, k_now, sold);
  Amounts there;
  Amounts all_sold;
  Amounts claimed;
  for (const NodeVerdict& verdict : owing.explanation.nodes) {
    if (verdict.pool.empty()) continue;
    const NodeRow node = whole(scene.cluster.nodes.at(verdict.node));
    add_to(there, plain_gross(scene.cluster, node, policy));
  }
  for (const Sold& one : sold) add_to(all_sold, amounts_of(one.units));
  for (const model::Pool& pool : owing.supply.pools) {
    add_to(claimed, larger_of(amounts_of(pool.capacity), sold_from(sold, pool.id)));
  }
  for (const auto& [name, amount] : claimed) {
    RC_ASSERT(amount <= std::max(there[name], all_sold[name]));
  }
  for (const model::Pool& before : plain.supply.pools) {
    const Amounts own = sold_from(sold, before.id);
    const Amounts now = amounts_of(pool_of(owing, before.id).capacity);
    for (const auto& [name, amount] : amounts_of(before.capacity)) {
      const auto mine = own.find(name);
      if (mine == own.end()) continue;
      RC_ASSERT(covers(now, {{name, std::min(amount, mine->second)}}));
    }
  }
}

// By time alone nothing changes before `changes_at`, and the offers do at it.
RC_GTEST_PROP(Offering, ChangesWhenItSaysItWould, ()) {
  const Scene scene = any_scene();
  const auto offers_at = [&scene](Instant when) {
    return offer(scene.view, scene.policy, k_cluster, when).supply.offers.empty();
  };
  if (!scene.offering.changes_at) {
    RC_ASSERT(offers_at(k_now + hours(any(0, 200))) == offers_at(k_now));
    return;
  }
  const Instant change = *scene.offering.changes_at;
  RC_ASSERT(change > k_now);
  const Duration ahead{any<int64_t>(0, (change - k_now).ms - 1)};
  RC_ASSERT(offers_at(k_now + ahead) == offers_at(k_now));
  RC_ASSERT(is_open(scene.policy.hours, change) != is_open(scene.policy.hours, k_now));
}

}  // namespace
}  // namespace spillway::supply
