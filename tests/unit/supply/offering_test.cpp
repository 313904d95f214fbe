#include "supply/offering.h"

#include <gmock/gmock.h>

#include "unit/supply/objects.h"

namespace spillway::supply {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using Names = std::vector<std::string>;

std::vector<std::string> steps_on_sale(const Offering& offering) {
  std::vector<std::string> names;
  for (const StepVerdict& step : offering.explanation.steps) {
    if (!step.offer.empty()) names.push_back(step.pool.text + ":" + step.step);
  }
  return names;
}

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
