// Which nodes are for sale.
#include <gmock/gmock.h>

#include "supply/offering.h"
#include "unit/supply/objects.h"

namespace spillway::supply {
namespace {

using ::testing::HasSubstr;

NodeReason reason_for(const NodeRow& row, const OfferingPolicy& policy = plain_policy()) {
  const Offering offering = offering_of(known_view({row}), policy);
  EXPECT_EQ(offering.explanation.nodes.size(), 1U);
  return offering.explanation.nodes.at(0).reason;
}

TEST(Offering, LeavesOutNodesThatCannotBeSold) {
  EXPECT_EQ(reason_for(plain_node()), NodeReason::offered);
  const auto bent = [](auto bend) {
    NodeRow row = plain_node();
    bend(row);
    return reason_for(row);
  };
  EXPECT_EQ(bent([](NodeRow& r) { r.is_virtual = true; }), NodeReason::is_virtual);
  EXPECT_EQ(bent([](NodeRow& r) { r.problem = "x"; }), NodeReason::unreadable);
  EXPECT_EQ(bent([](NodeRow& r) { r.going = true; }), NodeReason::going);
  EXPECT_EQ(bent([](NodeRow& r) { r.cordoned = true; }), NodeReason::cordoned);
  EXPECT_EQ(bent([](NodeRow& r) { r.ready = false; }), NodeReason::not_ready);
  EXPECT_EQ(bent([](NodeRow& r) { r.allocatable.cpu_millis = 1999; }), NodeReason::too_small);
  EXPECT_EQ(bent([](NodeRow& r) {
              r.taints = {{"team", "", model::TaintEffect::no_schedule}};
            }),
            NodeReason::tainted);
  EXPECT_EQ(bent([](NodeRow& r) {
              r.taints = {{"team", "", model::TaintEffect::prefer_no_schedule}};
            }),
            NodeReason::offered);
}

TEST(Offering, SellsTheNodesThatThePolicySelects) {
  OfferingPolicy policy = plain_policy();
  policy.nodes = {{"zone", model::Operator::in, {"b"}}};
  EXPECT_EQ(reason_for(plain_node(), policy), NodeReason::not_for_sale);
  policy.nodes = {{"private", model::Operator::absent, {}}};
  EXPECT_EQ(reason_for(plain_node(), policy), NodeReason::offered);
}

// Guests on a node that goes hear of it: the pool is still there, and covers less than was sold.
TEST(Offering, KeepsAPoolWhoseNodesAreOutForNowWithoutCapacity) {
  NodeRow row = plain_node();
  row.cordoned = true;
  const Offering offering = offering_of(known_view({row}), plain_policy());
  ASSERT_EQ(offering.supply.pools.size(), 1U);
  EXPECT_EQ(offering.supply.pools[0].capacity, model::Resources{});
  EXPECT_EQ(offering.supply.pools[0].node.cpu_millis, 8000);
  EXPECT_TRUE(offering.supply.offers.empty());
}

// Kubernetes itself taints a node that is cordoned, not Ready or short of memory: that passes, and
// is no reason to withdraw the pool.
TEST(Offering, TakesTaintsOfTheMomentForPassing) {
  const auto judged = [](std::string_view taint, auto bend) {
    NodeRow row = plain_node();
    row.taints = {{std::string(taint), "", model::TaintEffect::no_schedule}};
    bend(row);
    const Offering offering = offering_of(known_view({row}), plain_policy());
    EXPECT_EQ(offering.supply.pools.size(), 1U) << taint;
    EXPECT_TRUE(offering.supply.offers.empty()) << taint;
    return offering.explanation.nodes.at(0).reason;
  };
  EXPECT_EQ(judged("node.kubernetes.io/unschedulable", [](NodeRow& r) { r.cordoned = true; }),
            NodeReason::cordoned);
  EXPECT_EQ(judged("node.kubernetes.io/not-ready", [](NodeRow& r) { r.ready = false; }),
            NodeReason::not_ready);
  EXPECT_EQ(judged("node.kubernetes.io/memory-pressure", [](NodeRow&) {}), NodeReason::tainted);
  EXPECT_EQ(judged("ToBeDeletedByClusterAutoscaler", [](NodeRow&) {}), NodeReason::tainted);
  NodeRow control_plane = plain_node();
  control_plane.taints = {
      {"node-role.kubernetes.io/control-plane", "", model::TaintEffect::no_schedule}};
  EXPECT_TRUE(offering_of(known_view({control_plane}), plain_policy()).supply.pools.empty());
}

TEST(Offering, PassesTaintsOnThatThePolicyAllows) {
  NodeRow row = plain_node();
  row.taints = {{"spare", "x", model::TaintEffect::no_schedule},
                {"gpu", "", model::TaintEffect::no_execute}};
  OfferingPolicy policy = plain_policy();
  policy.taints = {{"gpu", std::nullopt, std::nullopt, true},
                   {"spare", "x", model::TaintEffect::no_schedule, false}};
  const Offering offering = offering_of(known_view({row}), policy);
  EXPECT_EQ(offering.supply.offers.at(0).taints,
            (std::vector<model::Taint>{{"gpu", "", model::TaintEffect::no_execute}}));
  policy.taints[1].value = "y";
  EXPECT_EQ(reason_for(row, policy), NodeReason::tainted);
}

TEST(Offering, TakesAFullNodeOut) {
  const Offering offering = offering_of(
      known_view({plain_node("n1"), plain_node("n2")}, {bound_pod("a/1", "n1", requests(6001, 0))}),
      plain_policy());
  EXPECT_EQ(offering.explanation.nodes.at(0).reason, NodeReason::full);
  EXPECT_THAT(offering.explanation.nodes.at(0).sentence, HasSubstr("1 own pods"));
  EXPECT_EQ(offering.supply.pools.at(0).capacity.cpu_millis, 8000);
}

TEST(Offering, TakesANodeOutOnWhichAnOwnPodCannotBeRead) {
  PodRow bad = bound_pod("a/1", "n1", {});
  bad.problem = "cpu: negative";
  const Offering offering =
      offering_of(known_view({plain_node("n1"), plain_node("n2")}, {bad}), plain_policy());
  EXPECT_EQ(offering.explanation.nodes.at(0).reason, NodeReason::unreadable_pod);
  EXPECT_EQ(offering.supply.pools.at(0).capacity.cpu_millis, 8000);
}

// Kubernetes says nvidia.com/gpu: 0 while their plugin starts again, and nothing at all when it is
// away for long: neither makes a node with GPUs a plain one.
TEST(Offering, DoesNotTakeANodeWhoseGpusAreAwayForAPlainOne) {
  OfferingPolicy policy = plain_policy();
  policy.ladder.push_back(step("a100", 2, 8));
  policy.ladder.back().shape.gpus = {{"nvidia-a100", 1}};
  NodeRow restarting = gpu_node("n1", 4);
  restarting.devices = restarting.allocatable.extended;
  restarting.allocatable.extended.clear();
  const Offering soon_back = offering_of(known_view({restarting, gpu_node("n2", 4)}), policy);
  EXPECT_EQ(soon_back.explanation.nodes.at(0).reason, NodeReason::without_gpus);
  ASSERT_EQ(soon_back.supply.pools.size(), 1U);  // it stays in its pool, and adds nothing
  EXPECT_EQ(soon_back.supply.pools[0].capacity.gpus, (model::Counts{{"nvidia-a100", 4}}));
  NodeRow away = gpu_node("n1", 4);
  away.allocatable.extended.clear();
  const Offering none = offering_of(known_view({away}), policy);
  EXPECT_EQ(none.explanation.nodes.at(0).reason, NodeReason::without_gpus);
  EXPECT_TRUE(none.supply.pools.empty());
  NodeRow forgotten = plain_node("n1");
  forgotten.devices = {{"nvidia.com/gpu", 0}};  // without a label, as a kubelet leaves it
  EXPECT_EQ(reason_for(forgotten, policy), NodeReason::without_gpus);
  NodeRow ill = gpu_node("n1", 3);
  ill.devices = {{"nvidia.com/gpu", 4}};
  const Offering one_less = offering_of(known_view({ill, gpu_node("n2", 4)}), policy);
  EXPECT_EQ(one_less.supply.pools.at(0).capacity.gpus, (model::Counts{{"nvidia-a100", 7}}));
}

}  // namespace
}  // namespace spillway::supply
