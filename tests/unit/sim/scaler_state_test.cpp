// What becomes of nodes that are asked for and do not come, and when nothing is done at all.
#include <gtest/gtest.h>

#include "tests/support/scaler_views.h"

namespace spillway::scaler {
namespace {

using Kind = Action::Kind;
using State = Instance::State;

TEST(ScalerProvision, AnInstanceThatNeverRegistersIsDeletedAndItsGroupBacksOff) {
  Scene scene;
  scene.cloud.groups = {group("g", 0, 5, node("t", 2))};
  scene.cluster.pods = {pod("p", 900)};
  ASSERT_EQ(scene.loop_for(Kind::increase).size(), 1u);
  scene.cloud.groups[0].target = 1;
  scene.instance("g", {"cloud://new", State::creating, std::nullopt});
  EXPECT_TRUE(scene.loop().empty());
  EXPECT_TRUE(scene.loop(minutes(15)).empty());
  const std::vector<Action> asked = scene.loop(seconds(10));
  ASSERT_EQ(asked.size(), 1u);  // and no other is bought: it is backed off
  EXPECT_EQ(asked[0].kind, Kind::remove);
  EXPECT_EQ(asked[0].nodes[0].provider_id, "cloud://new");
}

TEST(ScalerFailure, AFailedInstanceIsDeletedAtOnceAndAnotherGroupIsTaken) {
  for (const Version version : {Version::v1_30, Version::v1_35}) {
    Scene scene({.version = version});
    scene.cloud.groups = {group("g", 0, 5, node("t", 2))};
    scene.cluster.pods = {pod("p", 900)};
    ASSERT_EQ(scene.loop_for(Kind::increase).size(), 1u);
    scene.cloud.groups[0].target = 1;
    scene.cloud.groups.push_back(group("h", 0, 5, node("t", 2)));
    scene.instance("g", {"cloud://new", State::creating, "notice"});
    std::vector<Action> asked = scene.loop();
    ASSERT_FALSE(asked.empty());
    EXPECT_EQ(asked[0].kind, Kind::remove);
    // 1.30 does no more in such a loop; in the view of 1.35 the target still says that one comes.
    EXPECT_EQ(asked.size(), 1u);
    scene.cloud.groups[0].target = 0;
    scene.cloud.groups[0].instances.clear();
    asked = scene.loop();
    ASSERT_EQ(asked.size(), 1u);
    EXPECT_EQ(asked[0].group, "h");
  }
}

TEST(ScalerSizes, ATargetThatIsNotReachedForLongIsLowered) {
  Scene scene;
  scene.cloud.groups = {group("g", 3, 5, node("t", 2))};
  scene.place("g", node("n1", 2));
  scene.cluster.pods = {pod_on("n1", "busy", 1900)};
  EXPECT_TRUE(scene.loop_for(Kind::decrease).empty());
  EXPECT_TRUE(scene.loop_for(Kind::decrease, minutes(15)).empty());
  const auto asked = scene.loop_for(Kind::decrease);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].delta, -2);
}

// The hole in 1.35 and before: facts on a group come from its nodes, and this one has none.
TEST(ScalerSizes, AGroupWithoutAnyNodeOrInstanceIsNeverCorrected) {
  Scene scene;
  scene.cloud.groups = {group("g", 2, 5, node("t", 2))};
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(scene.loop_for(Kind::decrease, minutes(15)).empty());
}

TEST(ScalerHealth, StopsEverythingWhileTooManyNodesAreNotReady) {
  Scene scene({.scale_down_unneeded_time = seconds(5)});
  scene.cloud.groups = {group("g", 5, 9, node("t", 2))};
  for (int i = 0; i < 5; ++i) scene.place("g", node("n" + std::to_string(i), 2));
  for (size_t i = 0; i < 4; ++i) {
    supply::NodeRow& row = scene.cluster.nodes[i].row;
    row.ready = false;
    row.taints = {{"node.kubernetes.io/not-ready", "", model::TaintEffect::no_schedule}};
  }
  scene.cluster.pods = {pod("p", 1900)};
  scene.now = scene.now + minutes(20);  // they had time to start
  EXPECT_TRUE(scene.loop().empty());
  scene.cluster.nodes[0].row.ready = true;  // three are nothing to worry about
  scene.cluster.nodes[0].row.taints.clear();
  EXPECT_TRUE(scene.loop().empty());  // the pod fits
  scene.cluster.pods.push_back(pod("q", 1900));
  scene.cluster.pods.push_back(pod("r", 1900));
  EXPECT_EQ(scene.loop_for(Kind::increase).size(), 1u);
}

TEST(ScalerStart, FreesNodesThatALostProcessWasDeleting) {
  Scene scene;
  scene.cloud.groups = {group("g", 1, 9, node("t", 2))};
  scene.place("g", node("n", 2));
  scene.cluster.nodes[0].row.taints = {{k_to_be_deleted, "1", model::TaintEffect::no_schedule}};
  EXPECT_EQ(scene.loop_for(Kind::untaint).size(), 1u);
  EXPECT_TRUE(scene.loop_for(Kind::untaint).empty());
}

}  // namespace
}  // namespace spillway::scaler
