#include "supply/sold.h"

#include <gmock/gmock.h>

#include "unit/supply/objects.h"

namespace spillway::supply {
namespace {

using ::testing::HasSubstr;

model::Resources units(int64_t cores) { return {cores * 1000, cores * k_gib, cores, 0, {}, {}}; }

Offering offered_with(const View& view, const std::vector<Sold>& sold,
                      const OfferingPolicy& policy = plain_policy()) {
  return offer(view, policy, k_turin, k_monday_noon, sold);
}

TEST(Sold, KeepsAPoolWithoutNodesWithoutCapacity) {
  const model::Pool gone{PoolId("turin/gone"), units(8), units(16)};
  const Offering offering = offered_with(known_view({}), {{gone, units(4)}});
  ASSERT_EQ(offering.supply.pools.size(), 1U);
  EXPECT_EQ(offering.supply.pools[0], (model::Pool{gone.id, gone.node, {}}));
  EXPECT_TRUE(validate(offering.supply));
  EXPECT_THAT(to_text(offering.explanation), HasSubstr("turin/gone: no node of it is left"));
}

TEST(Sold, ChangesNothingForAPoolThatHasWhatItSold) {
  const View view = known_view({plain_node("n1"), plain_node("n2")});
  const Offering before = offering_of(view, plain_policy());
  const Offering after = offered_with(view, {{before.supply.pools.at(0), units(16)}});
  EXPECT_EQ(after.supply, before.supply);
  EXPECT_TRUE(after.explanation.pools.empty());
}

// The owner passes a label on: its node is in another pool now, and its guests still run there.
TEST(Sold, IsNotSoldAgainFromAnotherPoolOfTheSameNode) {
  const View view = known_view({plain_node()});
  const Offering before = offering_of(view, plain_policy());
  OfferingPolicy policy = plain_policy();
  policy.labels.pass = {"zone"};
  const std::vector<Sold> sold{{before.supply.pools.at(0), units(6)}};
  const Offering after = offered_with(view, sold, policy);
  ASSERT_EQ(after.supply.pools.size(), 2U);
  EXPECT_NE(after.supply.pools[0].id, before.supply.pools[0].id);
  EXPECT_EQ(after.supply.pools[0].capacity.cpu_millis, 2000);
  EXPECT_EQ(after.supply.pools[1].id, before.supply.pools[0].id);
  EXPECT_TRUE(after.supply.pools[1].capacity.is_zero());
  EXPECT_THAT(to_text(after.explanation), HasSubstr("6 cpu, 6Gi memory, 6 pods of it is kept"));
}

// Who bought from a pool that stays is not given notice for guests of another.
TEST(Sold, TakesOnlyWhatOthersHaveNotSoldThemselves) {
  const View view = known_view({plain_node()});
  const model::Pool pool = offering_of(view, plain_policy()).supply.pools.at(0);
  const model::Pool gone{PoolId("turin/gone"), units(8), units(8)};
  const Offering offering = offered_with(view, {{pool, units(5)}, {gone, units(8)}});
  EXPECT_EQ(offering.supply.pools.at(0).capacity.cpu_millis, 5000);
}

TEST(Sold, StaysOnNodesThatAreOutForNow) {
  NodeRow out = plain_node("n1");
  out.cordoned = true;
  NodeRow other = plain_node("n2");
  other.arch = "arm64";
  const View view = known_view({out, other});
  const model::Pool pool{PoolId(pool_of(out)), units(8), units(8)};
  const Offering offering = offered_with(view, {{pool, units(8)}});
  ASSERT_EQ(offering.supply.pools.size(), 2U);
  EXPECT_EQ(offering.supply.pools[1].capacity.cpu_millis, 8000);
}

// A kubelet that starts again costs nobody a contract, and sells nothing either.
TEST(Sold, StaysOnANodeThatIsNotReadyForALittleWhile) {
  NodeRow row = plain_node();
  row.ready = false;
  View view = known_view({plain_node()});
  view.put(row, k_monday_noon - minutes(4));
  view.put(row, k_monday_noon);  // still: it does not begin anew
  const model::Pool pool{PoolId(pool_of(row)), units(8), units(8)};
  const Offering soon = offered_with(view, {{pool, units(6)}});
  EXPECT_EQ(soon.supply.pools.at(0).capacity, units(6));
  EXPECT_TRUE(soon.supply.offers.empty());
  EXPECT_EQ(soon.changes_at, k_monday_noon + minutes(1));
  EXPECT_THAT(to_text(soon.explanation), HasSubstr("6 cpu, 6Gi memory, 6 pods that is sold is on"));
  EXPECT_TRUE(offered_with(view, {}).supply.pools.at(0).capacity.is_zero());
  const Offering late = offer(view, plain_policy(), k_turin, k_monday_noon + minutes(1),
                              std::vector<Sold>{{pool, units(6)}});
  EXPECT_TRUE(late.supply.pools.at(0).capacity.is_zero());
  EXPECT_FALSE(late.changes_at);
  // A clock that was set back makes no rest of hours.
  const Offering before = offer(view, plain_policy(), k_turin, k_monday_noon - hours(1),
                                std::vector<Sold>{{pool, units(6)}});
  EXPECT_TRUE(before.supply.pools.at(0).capacity.is_zero());
}

// The taint that kept strangers away while the node was silent outlives its silence by seconds.
TEST(Sold, StaysOnANodeThatIsReadyAgainAndStillTainted) {
  NodeRow row = plain_node();
  row.taints = {{"node.kubernetes.io/unreachable", "", model::TaintEffect::no_execute}};
  View view = known_view({});
  view.put(row, k_monday_noon);
  const model::Pool pool{PoolId(pool_of(row)), units(8), units(8)};
  const Offering offering = offered_with(view, {{pool, units(6)}});
  EXPECT_EQ(offering.supply.pools.at(0).capacity, units(6));
  EXPECT_TRUE(offering.supply.offers.empty());
  row.cordoned = true;  // that is its owner's will, and no illness
  view.put(row, k_monday_noon);
  EXPECT_TRUE(offered_with(view, {{pool, units(6)}}).supply.pools.at(0).capacity.is_zero());
}

// A device plugin that starts again costs nobody a contract; GPUs that are ill are not sold.
TEST(Sold, StaysOnGpusThatAreAwayForALittleWhile) {
  OfferingPolicy policy = plain_policy();
  policy.ladder = {step("a100", 2, 8)};
  policy.ladder[0].shape.gpus = {{"nvidia-a100", 1}};
  NodeRow row = gpu_node("n1", 1);
  row.devices = {{"nvidia.com/gpu", 4}};
  View view = known_view({});
  view.put(row, k_monday_noon);
  const model::Pool pool{PoolId(pool_of(row, policy)), {}, {}};
  model::Resources sold = units(6);
  sold.gpus = {{"nvidia-a100", 3}};
  const Offering soon = offered_with(view, {{pool, sold}}, policy);
  EXPECT_EQ(soon.supply.pools.at(0).capacity.gpus, (model::Counts{{"nvidia-a100", 3}}));
  EXPECT_EQ(soon.supply.pools.at(0).capacity.cpu_millis, 8000);
  const Offering late =
      offer(view, policy, k_turin, k_monday_noon + minutes(5), std::vector<Sold>{{pool, sold}});
  EXPECT_EQ(late.supply.pools.at(0).capacity.gpus, (model::Counts{{"nvidia-a100", 1}}));
}

}  // namespace
}  // namespace spillway::supply
