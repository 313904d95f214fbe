// Room that is kept for the owner's pods without a place.
#include <gmock/gmock.h>

#include "supply/offering.h"
#include "supply/pending.h"
#include "unit/supply/objects.h"

namespace spillway::supply {
namespace {

using ::testing::HasSubstr;

TEST(Offering, SellsNothingNewWhileAPodWithoutPlaceCannotBeRead) {
  PodRow bad = pending_pod("a/1", {});
  bad.problem = "cpu: negative";
  const Offering offering = offering_of(known_view({plain_node()}, {bad}), plain_policy());
  EXPECT_TRUE(offering.supply.offers.empty());
  EXPECT_EQ(offering.supply.pools.at(0).capacity.cpu_millis, 8000);
  EXPECT_THAT(offering.explanation.withheld, HasSubstr("pod a/1 cannot be read"));
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

}  // namespace
}  // namespace spillway::supply
