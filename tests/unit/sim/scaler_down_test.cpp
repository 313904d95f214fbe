#include <gtest/gtest.h>

#include "tests/support/scaler_views.h"

namespace spillway::scaler {
namespace {

using Kind = Action::Kind;

Options quick() {
  Options options;
  options.scale_down_unneeded_time = seconds(25);
  options.scale_down_delay_after_add = seconds(15);
  options.unremovable_node_recheck_timeout = seconds(60);
  return options;
}

// Nodes of two cores each.
void fill(Scene& scene, int nodes, int32_t min = 0) {
  scene.cloud.groups = {group("g", nodes, 20, node("t", 2))};
  scene.cloud.groups[0].min = min;
  for (int i = 0; i < nodes; ++i) scene.place("g", node("n" + std::to_string(i), 2));
}

size_t tainted(Scene& scene, Duration after = seconds(10)) {
  return scene.loop_for(Kind::taint, after).size();
}

TEST(ScalerDown, AnEmptyNodeGoesOnceItWasUnneededForLong) {
  Scene scene(quick());
  fill(scene, 2);
  EXPECT_EQ(tainted(scene), 0u);
  EXPECT_EQ(tainted(scene, seconds(25)), 0u);  // not before the time has passed
  EXPECT_EQ(tainted(scene, seconds(1)), 2u);
}

TEST(ScalerDown, StaysAtTheMinimumAndWithinTen) {
  Scene scene(quick());
  fill(scene, 15, 3);
  tainted(scene);
  EXPECT_EQ(tainted(scene, seconds(26)), 10u);
  EXPECT_EQ(tainted(scene), 0u);  // those are on their way out
  Scene small(quick());
  fill(small, 4, 3);
  tainted(small);
  EXPECT_EQ(tainted(small, seconds(26)), 1u);
}

TEST(ScalerDown, WhatIsUsedUpToTheThresholdIsUnneededFrom1_35On) {
  for (const auto& [version, count] :
       {std::pair(Version::v1_30, 0u), std::pair(Version::v1_35, 1u)}) {
    Options options = quick();
    options.version = version;
    Scene scene(options);
    fill(scene, 2);
    scene.cluster.pods = {pod_on("n0", "a", 1000), pod_on("n1", "b", 1000)};
    tainted(scene);
    EXPECT_EQ(tainted(scene, seconds(26)), count);
  }
}

TEST(ScalerDown, APodThatWouldFindNoRoomKeepsItsNodeAndIsNotLookedAtAgainForAWhile) {
  Scene scene(quick());
  fill(scene, 2);
  scene.cluster.pods = {pod_on("n0", "little", 900), pod_on("n1", "much", 1900)};
  tainted(scene);
  scene.cluster.pods[1].requests.cpu_millis = 1000;
  EXPECT_EQ(tainted(scene, seconds(30)), 0u);
  EXPECT_EQ(tainted(scene, seconds(31)), 0u);  // looked at again: unneeded from now on
  EXPECT_EQ(tainted(scene, seconds(26)), 1u);
}

TEST(ScalerDown, DrainsOneAtATimeAndNeverBothOfTwoThatWouldSwap) {
  Scene scene(quick());
  fill(scene, 2);
  scene.cluster.pods = {pod_on("n0", "a", 900), pod_on("n1", "b", 900)};
  tainted(scene);
  EXPECT_EQ(tainted(scene, seconds(26)), 1u);
  EXPECT_EQ(tainted(scene, seconds(26)), 0u);
}

TEST(ScalerDown, WhoeverHasNoOwnerOrMayNotMoveStays) {
  Scene scene(quick());
  fill(scene, 2);
  scene.cluster.pods = {pod_on("n0", "lonely", 100), pod_on("n1", "pinned", 100)};
  scene.cluster.pods[0].owner.clear();
  scene.cluster.pods[1].may_move = false;
  tainted(scene);
  EXPECT_EQ(tainted(scene, seconds(26)), 0u);
}

TEST(ScalerDown, WaitsAfterAScaleUpAndWhilePodsAreNew) {
  Scene scene(quick());
  fill(scene, 1);
  scene.cluster.pods = {pod("big", 9000)};
  scene.cloud.groups.push_back(group("big", 0, 9, node("b", 16)));
  ASSERT_EQ(scene.loop_for(Kind::increase).size(), 1u);
  scene.cluster.pods.clear();
  scene.cloud.groups[1].target = 0;
  tainted(scene, seconds(1));
  scene.cluster.pods = {pod("newcomer", 9000)};
  scene.cluster.pods[0].created = scene.now + seconds(26);
  EXPECT_EQ(tainted(scene, seconds(27)), 0u);
  scene.cluster.pods.clear();
  EXPECT_EQ(tainted(scene, seconds(1)), 1u);
}

TEST(ScalerDown, AnUnreadyNodeWaitsForItsOwnTime) {
  Options options = quick();
  options.scale_down_unready_time = seconds(100);
  Scene scene(options);
  fill(scene, 1);
  scene.cluster.nodes[0].row.ready = false;
  scene.now = scene.now + minutes(20);
  tainted(scene);
  EXPECT_EQ(tainted(scene, seconds(90)), 0u);
  EXPECT_EQ(tainted(scene, seconds(11)), 1u);
}

TEST(ScalerDown, ATaintThatFailsFreesTheOthersAndWaits) {
  Scene scene(quick());
  fill(scene, 2);
  tainted(scene);
  scene.refuses = [](const Action& action) {
    return action.kind == Kind::taint && action.node.row.name == "n1";
  };
  const auto asked = scene.loop(seconds(26));
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[2].kind, Kind::untaint);
  EXPECT_EQ(asked[2].node.row.name, "n0");
  scene.refuses = nullptr;
  EXPECT_EQ(tainted(scene, seconds(170)), 0u);
  EXPECT_EQ(tainted(scene, seconds(11)), 2u);
}

// Its process may have lost the cluster before it could free the node.
TEST(ScalerDown, ANodeThatWasTaintedLongAgoIsLookedAtAgain) {
  Scene scene(quick());
  fill(scene, 1);
  scene.loop();  // what a lost process left behind would be freed at once
  scene.cluster.nodes[0].row.taints = {
      {k_to_be_deleted, std::to_string(scene.now.ms / 1000), model::TaintEffect::no_schedule}};
  EXPECT_EQ(tainted(scene, minutes(4)), 0u);
  EXPECT_EQ(tainted(scene, minutes(1)), 0u);  // unneeded from now on
  EXPECT_EQ(tainted(scene, seconds(26)), 1u);
}

class Draining : public testing::Test {
 protected:
  Draining() {
    fill(scene, 2);
    scene.cluster.pods = {pod_on("n0", "a", 900), pod_on("n1", "b", 900)};
    tainted(scene);
    EXPECT_EQ(tainted(scene, seconds(26)), 1u);
  }
  std::vector<Action> step(Duration after) {
    scene.now = scene.now + after;
    return scene.mind.deletions().step(scene.cluster, scene.now);
  }
  void tell(const Action& action, bool ok = true) {
    scene.mind.deletions().told(
        action, ok ? Outcome{} : Outcome{fail(Code::unavailable, "it", "no", "later")}, scene.now);
  }
  Scene scene{quick()};
};

TEST_F(Draining, EvictsAfterAWhileAndDeletesOnceThePodsAreGone) {
  EXPECT_TRUE(step(seconds(4)).empty());
  auto asked = step(seconds(1));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].kind, Kind::evict);
  tell(asked[0]);
  EXPECT_TRUE(step(milliseconds(1)).empty());
  scene.cluster.pods.erase(scene.cluster.pods.begin());
  asked = step(seconds(5));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].kind, Kind::remove);
  EXPECT_EQ(asked[0].nodes[0].provider_id, "cloud://n0");
  EXPECT_EQ(scene.mind.deletions().progress().drained, 1);
  tell(asked[0]);
  EXPECT_EQ(scene.mind.deletions().progress().drained, 0);
}

TEST_F(Draining, TriesARefusedEvictionAgainAndGivesUpInTheEnd) {
  auto asked = step(seconds(5));
  tell(asked[0], false);
  EXPECT_TRUE(step(seconds(9)).empty());
  asked = step(seconds(1));
  ASSERT_EQ(asked.size(), 1u);
  tell(asked[0], false);
  asked = step(minutes(2));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].kind, Kind::untaint);
}

TEST_F(Draining, PodsThatAreAboutToBeHomelessCountAsWaiting) {
  scene.cluster.nodes[0].row.taints = {{k_to_be_deleted, "1", model::TaintEffect::no_schedule}};
  scene.cluster.pods.push_back(pod_on("n1", "c", 900));  // took the room
  // While the target still counts the one that goes, another seems to be coming.
  EXPECT_TRUE(scene.loop_for(Kind::increase).empty());
  scene.cloud.groups[0].target = 1;
  EXPECT_EQ(scene.loop_for(Kind::increase).size(), 1u);
}

TEST(ScalerDeletion, AnEmptyNodeThatGotAPodStays) {
  Scene scene(quick());
  fill(scene, 1);
  tainted(scene);
  ASSERT_EQ(tainted(scene, seconds(26)), 1u);
  scene.cluster.pods = {pod_on("n0", "late", 900)};
  const auto asked = scene.mind.deletions().step(scene.cluster, scene.now + seconds(5));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].kind, Kind::untaint);
}

}  // namespace
}  // namespace spillway::scaler
