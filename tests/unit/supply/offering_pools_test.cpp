// Which nodes make one pool.
#include <gmock/gmock.h>

#include "supply/offering.h"
#include "unit/supply/objects.h"

namespace spillway::supply {
namespace {

using ::testing::HasSubstr;

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

}  // namespace
}  // namespace spillway::supply
