#include "supply/offering.h"

#include <gmock/gmock.h>

#include "supply/pending.h"
#include "unit/supply/objects.h"

namespace spillway::supply {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::vector<std::string> steps_on_sale(const Offering& offering) {
  std::vector<std::string> names;
  for (const StepVerdict& step : offering.explanation.steps) {
    if (!step.offer.empty()) names.push_back(step.pool.text + ":" + step.step);
  }
  return names;
}

NodeReason reason_for(const NodeRow& row, const OfferingPolicy& policy = plain_policy()) {
  const Offering offering = offering_of(known_view({row}), policy);
  EXPECT_EQ(offering.explanation.nodes.size(), 1U);
  return offering.explanation.nodes.at(0).reason;
}

using Names = std::vector<std::string>;

TEST(Offering, IsNothingBeforeTheClusterIsKnown) {
  View view;
  view.put(plain_node());
  const Offering offering = offering_of(view, plain_policy());
  EXPECT_FALSE(offering.known);
  EXPECT_EQ(offering.supply, Supply{});
}

TEST(Offering, SumsWhatNodesOfOneShapeHaveLeft) {
  const View view = known_view(
      {plain_node("n1"), plain_node("n2")},
      {bound_pod("a/1", "n1", requests(1500, 4)), bound_pod("a/2", "n1", requests(500, 0))});
  OfferingPolicy policy = plain_policy();
  policy.headroom.amount = {250, k_gib, 0, 0, {}, {}};
  policy.headroom.share_permille = 100;
  const Offering offering = offering_of(view, policy);
  ASSERT_EQ(offering.supply.pools.size(), 1U);
  const model::Pool& pool = offering.supply.pools[0];
  EXPECT_THAT(pool.id.text, MatchesRegex("turin/amd64-8cpu-32gi-[0-9a-f]{8}"));
  // 8 cores less 250m and a tenth; a tenth of 110 pods is kept too.
  EXPECT_EQ(pool.node.cpu_millis, 8000 - 250 - 800);
  EXPECT_EQ(pool.capacity.cpu_millis, 2 * (8000 - 250 - 800) - 2000);
  EXPECT_EQ(pool.capacity.pods, 2 * 99 - 2);
  EXPECT_EQ(steps_on_sale(offering), (Names{pool.id.text + ":small", pool.id.text + ":medium"}));
  const model::Offer& small = offering.supply.offers.at(0);
  EXPECT_EQ(small.price, policy.price);
  EXPECT_EQ(small.labels, (model::Labels{{"kubernetes.io/arch", "amd64"}}));
  EXPECT_TRUE(small.visibility.everyone);
  EXPECT_FALSE(small.until);
}

TEST(Offering, DoesNotSubtractGuests) {
  PodRow guest = bound_pod("a/1", "n1", requests(4000, 8));
  guest.guest = true;
  const Offering with = offering_of(known_view({plain_node()}, {guest}), plain_policy());
  EXPECT_EQ(with.supply.pools.at(0).capacity.cpu_millis, 8000);
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

TEST(Offering, SellsNothingNewWhileAPodWithoutPlaceCannotBeRead) {
  PodRow bad = pending_pod("a/1", {});
  bad.problem = "cpu: negative";
  const Offering offering = offering_of(known_view({plain_node()}, {bad}), plain_policy());
  EXPECT_TRUE(offering.supply.offers.empty());
  EXPECT_EQ(offering.supply.pools.at(0).capacity.cpu_millis, 8000);
  EXPECT_THAT(offering.explanation.withheld, HasSubstr("pod a/1 cannot be read"));
}

TEST(Offering, HasNoOfferLargerThanTheLargestNodesRest) {
  const Offering offering = offering_of(
      known_view({plain_node("n1"), plain_node("n2")}, {bound_pod("a/1", "n1", requests(5000, 0)),
                                                        bound_pod("a/2", "n2", requests(4500, 0))}),
      plain_policy());
  EXPECT_EQ(steps_on_sale(offering), (Names{pool_of(plain_node()) + ":small"}));
  EXPECT_EQ(offering.supply.pools.at(0).node.cpu_millis, 3500);
  EXPECT_EQ(offering.supply.pools.at(0).capacity.cpu_millis, 6500);
  EXPECT_THAT(offering.explanation.steps.at(1).sentence, HasSubstr("lacks cpu"));
}

TEST(Offering, KeepsNodesOfDifferentShapesApart) {
  NodeRow small = plain_node("n1");
  small.allocatable.cpu_millis = 2500;
  NodeRow arm = plain_node("n2");
  arm.arch = "arm64";
  arm.labels[0].value = "arm64";
  OfferingPolicy policy = plain_policy();
  const Offering offering = offering_of(known_view({plain_node("n0"), small, arm}), policy);
  ASSERT_EQ(offering.supply.pools.size(), 3U);
  EXPECT_THAT(offering.supply.pools[0].id.text, HasSubstr("turin/amd64-2500m-32gi-"));
  EXPECT_THAT(offering.supply.pools[1].id.text, HasSubstr("turin/amd64-8cpu-32gi-"));
  EXPECT_THAT(offering.supply.pools[2].id.text, HasSubstr("turin/arm64-8cpu-32gi-"));
}

// Three nodes of 8, 7 and 7 cores hold one unit of 8, whatever their sum says.
TEST(Offering, KeepsNodesOfDifferentSizesApartWhateverTheLadder) {
  const auto pools = [](auto bend) {
    NodeRow other = plain_node("n2");
    bend(other);
    return offering_of(known_view({plain_node("n1"), other}), plain_policy()).supply.pools.size();
  };
  EXPECT_EQ(pools([](NodeRow&) {}), 1U);
  EXPECT_EQ(pools([](NodeRow& r) { r.allocatable.cpu_millis -= 1; }), 2U);
  EXPECT_EQ(pools([](NodeRow& r) { r.allocatable.memory_bytes -= k_gib; }), 2U);
  EXPECT_EQ(pools([](NodeRow& r) { r.allocatable.pods -= 1; }), 2U);
  EXPECT_EQ(pools([](NodeRow& r) { r.allocatable.storage_bytes /= 2; }), 2U);
  EXPECT_EQ(pools([](NodeRow& r) { r.allocatable.extended = {{"kvm.example/kvm", 1000}}; }), 1U);
}

// No two kernels leave the same number of pages.
TEST(Offering, TakesMachinesOfOneKindForOneSize) {
  NodeRow one = plain_node("n1");
  one.allocatable.memory_bytes = 32'786'320LL << 10;
  NodeRow other = plain_node("n2");
  other.allocatable.memory_bytes = 32'780'172LL << 10;
  const Offering offering = offering_of(known_view({one, other}), plain_policy());
  ASSERT_EQ(offering.supply.pools.size(), 1U);
  EXPECT_EQ(offering.supply.pools[0].node.memory_bytes, 125 * k_gib / 4);
  EXPECT_EQ(offering.supply.pools[0].capacity.memory_bytes, 125 * k_gib / 2);
  EXPECT_THAT(offering.supply.pools[0].id.text, HasSubstr("turin/amd64-8cpu-32000mi-"));
}

TEST(Offering, MovesNoNodeToAnotherPoolByEditsOfTheLadderOrHeadroom) {
  OfferingPolicy policy = plain_policy();
  const View view = known_view({plain_node()});
  const PoolId before = offering_of(view, policy).supply.pools.at(0).id;
  policy.ladder.push_back(step("large", 8, 32));
  policy.ladder[0].name = "tiny";
  EXPECT_EQ(offering_of(view, policy).supply.pools.at(0).id, before);
  policy.headroom.amount.cpu_millis = 5000;
  EXPECT_EQ(offering_of(view, policy).supply.pools.at(0).id, before);
}

TEST(Offering, KeepsPoolsApartByLabelsThatArePassedOn) {
  NodeRow other = plain_node("n2");
  other.labels[1].value = "b";
  OfferingPolicy policy = plain_policy();
  EXPECT_EQ(offering_of(known_view({plain_node("n1"), other}), policy).supply.pools.size(), 1U);
  policy.labels.pass = {"zone"};
  policy.labels.add = {{"owner", "lab"}};
  const Offering offering = offering_of(known_view({plain_node("n1"), other}), policy);
  ASSERT_EQ(offering.supply.pools.size(), 2U);
  EXPECT_EQ(offering.supply.offers.at(0).labels,
            (model::Labels{{"kubernetes.io/arch", "amd64"}, {"owner", "lab"}, {"zone", "a"}}));
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

TEST(Offering, SellsGpusByModel) {
  OfferingPolicy policy = plain_policy();
  policy.ladder.push_back(step("a100", 2, 8));
  policy.ladder.back().shape.gpus = {{"nvidia-a100", 1}};
  const Offering offering =
      offering_of(known_view({gpu_node("n1", 4), gpu_node("n2", 4, "NVIDIA-T4")},
                             {bound_pod("a/1", "n1", requests(100, 0, {{"nvidia.com/gpu", 1}}))}),
                  policy);
  ASSERT_EQ(offering.supply.pools.size(), 1U);  // the T4s hold no step: none sells them
  EXPECT_EQ(offering.supply.pools[0].capacity.gpus, (model::Counts{{"nvidia-a100", 3}}));
  ASSERT_EQ(offering.supply.offers.size(), 1U);  // and no plain shape strands the A100s
  EXPECT_EQ(offering.supply.offers[0].shape.gpus, (model::Counts{{"nvidia-a100", 1}}));
  policy.ladder[0].gpu_nodes = true;
  EXPECT_EQ(offering_of(known_view({gpu_node("n1", 4)}), policy).supply.offers.size(), 2U);
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

TEST(Offering, LeavesOutWhatNoStepSells) {
  NodeRow row = plain_node();
  row.allocatable.extended = {{"example.com/fpga", 2}};
  EXPECT_TRUE(
      offering_of(known_view({row}), plain_policy()).supply.pools.at(0).node.extended.empty());
}

TEST(Offering, KeepsToTheQuotaOfEachPool) {
  OfferingPolicy policy = plain_policy();
  policy.quota.share_permille = 500;
  policy.quota.most.memory_bytes = 10 * k_gib;
  const Offering offering = offering_of(known_view({plain_node("n1"), plain_node("n2")}), policy);
  const model::Pool& pool = offering.supply.pools.at(0);
  EXPECT_EQ(pool.capacity.cpu_millis, 8000);
  EXPECT_EQ(pool.capacity.memory_bytes, 10 * k_gib);
  EXPECT_EQ(pool.node.cpu_millis, 8000);
}

TEST(Offering, KeepsRoomForTheOwnersPendingPods) {
  const Offering offering = offering_of(
      known_view({plain_node()},
                 {pending_pod("a/1", requests(3000, 4)), pending_pod("a/2", requests(9000, 1))}),
      plain_policy());
  EXPECT_EQ(offering.supply.pools.at(0).capacity.cpu_millis, 5000);
  EXPECT_EQ(offering.supply.pools.at(0).capacity.pods, 109);
  const auto& pending = offering.explanation.pending;
  EXPECT_EQ(pending.at(0).pool.text, pool_of(plain_node()));
  EXPECT_TRUE(pending.at(1).pool.empty());
  EXPECT_THAT(pending.at(1).sentence, HasSubstr("no node that is for sale"));
}

TEST(Offering, NeverTakesMoreThanThereIsForPendingPods) {
  const Offering offering =
      offering_of(known_view({plain_node()}, {bound_pod("a/0", "n1", requests(5000, 0)),
                                              pending_pod("a/1", requests(8000, 32))}),
                  plain_policy());
  EXPECT_EQ(offering.supply.pools.at(0).capacity.cpu_millis, 0);
  EXPECT_EQ(offering.supply.pools.at(0).capacity.memory_bytes, 0);
}

TEST(Offering, KeepsRoomWhereAPendingPodCouldRunAndHasEnough) {
  NodeRow arm = plain_node("n2");
  arm.arch = "arm64";
  arm.labels[0].value = "arm64";
  Placement on_arm;
  on_arm.selector = {{"kubernetes.io/arch", "arm64"}};
  PodRow gated = pending_pod("a/3", requests(1000, 1));
  gated.state = PodState::gated;
  const Offering offering = offering_of(
      known_view({plain_node("n1"), arm}, {pending_pod("a/1", requests(1000, 1), on_arm),
                                           pending_pod("a/2", requests(8000, 1)), gated,
                                           pending_pod("a/4", requests(1000, 1))}),
      plain_policy());
  EXPECT_EQ(offering.explanation.pending.at(0).pool.text, pool_of(arm));
  EXPECT_EQ(offering.explanation.pending.at(1).pool.text, pool_of(plain_node()));
  EXPECT_THAT(offering.explanation.pending.at(2).sentence, HasSubstr("gated"));
  EXPECT_EQ(offering.explanation.pending.at(3).pool.text, pool_of(arm));
  EXPECT_EQ(offering.supply.pools.at(0).capacity.cpu_millis, 0);
  EXPECT_EQ(offering.supply.pools.at(1).capacity.cpu_millis, 6000);
}

TEST(Offering, KeepsRoomForAPodOfADaemonSetWhereItsNodeIs) {
  NodeRow arm = plain_node("n2");
  arm.arch = "arm64";
  Placement to_n2;
  to_n2.terms = {{{"metadata.name", Requirement::Operator::in, true, {"n2"}}}};
  const Offering offering = offering_of(
      known_view({plain_node("n1"), arm}, {pending_pod("a/1", requests(1000, 1), to_n2)}),
      plain_policy());
  EXPECT_EQ(offering.explanation.pending.at(0).pool.text, pool_of(arm));
}

// Thousands of pods that all differ and fit nowhere: from some point on room is kept unseen.
TEST(Offering, LooksForPlacesOnlySoLong) {
  std::vector<NodeRow> nodes;
  for (int i = 0; i < 100; ++i) nodes.push_back(plain_node(fmt::format("n{}", i)));
  View view = known_view(std::move(nodes));
  const int pods = static_cast<int>(k_most_looks) / 100 + 1;
  for (int i = 0; i < pods; ++i) {
    Placement nowhere;
    nowhere.selector = {{"zone", fmt::format("none-{}", i)}};
    view.put(pending_pod(fmt::format("a/{:05}", i), requests(10, 0), nowhere));
  }
  const Offering offering = offering_of(view, plain_policy());
  EXPECT_EQ(offering.supply.pools.at(0).capacity.cpu_millis, 100 * 8000 - 10);
}

TEST(Offering, HasNoOffersOutsideHoursAndKeepsItsPools) {
  OfferingPolicy policy = plain_policy();
  policy.hours = {{{}, {18 * 60}, {8 * 60}}};
  const View view = known_view({plain_node()});
  const Offering closed = offering_of(view, policy);
  EXPECT_TRUE(closed.supply.offers.empty());
  EXPECT_EQ(closed.supply.pools.at(0).capacity.cpu_millis, 8000);
  EXPECT_EQ(closed.changes_at, k_monday_noon + hours(6));
  const Offering open = offering_of(view, policy, k_monday_noon + hours(6));
  EXPECT_EQ(open.supply.offers.at(0).until, k_monday_noon + hours(20));
}

TEST(Offering, TakesPriceAndVisibilityOfTheStepFirst) {
  OfferingPolicy policy = plain_policy();
  policy.ladder[1].price.emplace().unit_hour = 7;
  policy.ladder[1].visibility.emplace().clusters = {ClusterId("milan")};
  const Offering offering = offering_of(known_view({plain_node()}), policy);
  EXPECT_EQ(offering.supply.offers.at(1).price.unit_hour, 7);
  EXPECT_FALSE(offering.supply.offers.at(1).visibility.everyone);
}

TEST(Offering, ExplainsItselfInWords) {
  const Offering offering = offering_of(
      known_view({plain_node("n1"), gpu_node("n2", 1)}, {pending_pod("a/1", requests(1, 0))}),
      plain_policy());
  const std::string pool = pool_of(plain_node());
  EXPECT_EQ(to_text(offering.explanation),
            "node n1: offered: 8 cpu, 32Gi memory, 110 pods, 100Gi storage\n"
            "node n2: no step of the ladder fits it, even empty: 8 cpu, 32Gi memory, 110 "
            "pods, 100Gi storage, 1 × nvidia-a100\n"
            "small from " +
                pool + ": offered as " + offering.supply.offers.at(0).id.text +
                "\n"
                "medium from " +
                pool + ": offered as " + offering.supply.offers.at(1).id.text +
                "\n"
                "pending pod a/1: room for it is kept in " +
                pool + "\n");
}

}  // namespace
}  // namespace spillway::supply
