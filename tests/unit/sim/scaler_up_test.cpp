#include <gtest/gtest.h>

#include "sim/scaler/scale_up.h"
#include "tests/support/scaler_views.h"

namespace spillway::scaler {
namespace {

using Kind = Action::Kind;

void add_pods(Scene& scene, int count, int64_t cpu_millis, int64_t memory_mib = 64) {
  for (int i = 0; i < count; ++i) {
    scene.cluster.pods.push_back(pod("p" + std::to_string(i), cpu_millis, memory_mib));
  }
}

std::string grown(const std::vector<Action>& actions) {
  return actions.size() == 1 ? actions[0].group + "+" + std::to_string(actions[0].delta) : "none";
}

TEST(ScalerEstimate, PacksTheLargestFirstAndFillsWhatIsOpen) {
  Lots lots = {{pod("s1", 500), pod("s2", 500), pod("s3", 500)},
               {pod("l1", 1500), pod("l2", 1500)}};
  const Option option = estimate("g", node("t", 2), lots, 10);
  EXPECT_EQ(option.count, 3);  // 1500+500, 1500+500, 500
  EXPECT_EQ(option.pods.size(), 5u);
  EXPECT_EQ(option.pods.front().key, "default/l1");
}

TEST(ScalerEstimate, StopsAtTheMostAndLeavesOutWhatNeverFits) {
  Lots lots = {{pod("a", 1500), pod("b", 1500), pod("c", 1500)}, {pod("huge", 9000)}};
  const Option option = estimate("g", node("t", 2), lots, 2);
  EXPECT_EQ(option.count, 2);
  EXPECT_EQ(option.pods.size(), 2u);
}

TEST(ScalerLots, ArePodsOfOneOwnerThatAreAlike) {
  std::vector<PodView> pods = {pod("a", 500), pod("b", 500), pod("c", 600), pod("d", 500)};
  pods[3].owner = "other";
  EXPECT_EQ(lots_of(pods).size(), 3u);
  for (PodView& one : pods) one.owner.clear();
  EXPECT_EQ(lots_of(pods).size(), 4u);
}

TEST(ScalerUp, AsksOnceForWhatIsOnItsWay) {
  Scene scene;
  scene.cloud.groups = {group("g", 0, 5, node("t", 2))};
  add_pods(scene, 4, 900);
  EXPECT_EQ(grown(scene.loop_for(Kind::increase)), "g+2");
  scene.cloud.groups[0].target = 2;
  EXPECT_EQ(grown(scene.loop_for(Kind::increase)), "none");
}

TEST(ScalerUp, WaitsForPodsThatCameJustNow) {
  Scene scene;
  scene.cloud.groups = {group("g", 0, 5, node("t", 2))};
  add_pods(scene, 1, 900);
  EXPECT_EQ(grown(scene.loop_for(Kind::increase, seconds(1))), "none");
  EXPECT_EQ(grown(scene.loop_for(Kind::increase, seconds(2))), "g+1");
}

TEST(ScalerUp, LeavesPodsAloneThatFitANodeAfterAll) {
  Scene scene;
  scene.cloud.groups = {group("g", 1, 5, node("t", 2))};
  scene.place("g", node("n1", 2));
  add_pods(scene, 2, 900);
  EXPECT_EQ(grown(scene.loop_for(Kind::increase)), "none");
  add_pods(scene, 1, 900);
  EXPECT_EQ(grown(scene.loop_for(Kind::increase)), "g+1");
}

TEST(ScalerUp, HoldsToTaintsSelectorsAndLimits) {
  Scene scene({.max_nodes_per_scaleup = 3});
  scene.cloud.groups = {group("g", 0, 9, node("t", 2))};
  scene.cloud.groups[0].template_node->row.taints = {{"key", "", model::TaintEffect::no_execute}};
  add_pods(scene, 9, 1900);
  EXPECT_EQ(grown(scene.loop_for(Kind::increase)), "none");
  auto tolerant = std::make_shared<supply::Placement>();
  tolerant->tolerations = {{"key", std::nullopt, std::nullopt}};
  for (PodView& one : scene.cluster.pods) one.placement = tolerant;
  EXPECT_EQ(grown(scene.loop_for(Kind::increase)), "g+3");
}

TEST(ScalerUp, GrowsNoGroupBeyondItsMaximum) {
  Scene scene;
  scene.cloud.groups = {group("full", 2, 2, node("t", 2)), group("room", 0, 1, node("t", 2))};
  scene.place("full", node("n1", 2));
  scene.place("full", node("n2", 2));
  for (const auto* name : {"n1", "n2"}) scene.cluster.pods.push_back(pod_on(name, name, 2000));
  add_pods(scene, 3, 1900);
  EXPECT_EQ(grown(scene.loop_for(Kind::increase)), "room+1");
}

TEST(ScalerExpander, LeastWasteLooksAtCoresAndMemory) {
  Scene scene({.expander = Expander::least_waste});
  scene.cloud.groups = {group("wide", 0, 5, node("w", 8, 16)), group("snug", 0, 5, node("s", 2, 4)),
                        group("roomy", 0, 5, node("r", 2, 32))};
  add_pods(scene, 2, 900, 1800);
  EXPECT_EQ(grown(scene.loop_for(Kind::increase)), "snug+1");
}

TEST(ScalerExpander, PriceWeighsMoneyAgainstThePreferredSize) {
  Scene scene({.expander = Expander::price});
  scene.cloud.groups = {group("one", 0, 9, node("a", 1)), group("eight", 0, 9, node("b", 8))};
  scene.price_of_node = {{"one", 1.0}, {"eight", 2.0}};
  scene.price_of_pod = 0.5;
  add_pods(scene, 4, 900);
  // One: 1 × (4·1 + 0.5) / (4·0.5 + 0.5) = 1.8. Eight: a cluster this small wants one core, so
  // 8 × (2 + 0.5) / (2 + 0.5) = 8.
  EXPECT_EQ(grown(scene.loop_for(Kind::increase)), "one+4");
  scene.price_of_node["one"] = 8.0;  // (32 + 0.5) / 2.5 = 13
  scene.cloud.groups[0].target = 0;
  EXPECT_EQ(grown(scene.loop_for(Kind::increase)), "eight+1");
}

TEST(ScalerExpander, PriceLeavesOutWhatHasNone) {
  Scene scene({.expander = Expander::price});
  scene.cloud.groups = {group("cheap", 0, 9, node("a", 2)), group("dear", 0, 9, node("b", 2))};
  scene.price_of_node = {{"cheap", 1.0}, {"dear", 9.0}};
  scene.refuses = [](const Action& action) {
    return action.kind == Kind::quote_node && action.group == "cheap";
  };
  add_pods(scene, 1, 900);
  EXPECT_EQ(grown(scene.loop_for(Kind::increase)), "dear+1");
}

TEST(ScalerExpander, GrpcTakesOfWhatIsLeftToIt) {
  Scene scene({.expander = Expander::grpc});
  scene.cloud.groups = {group("a", 0, 9, node("a", 2)), group("b", 0, 9, node("b", 2))};
  scene.chosen = {"b"};
  add_pods(scene, 3, 900);
  const std::vector<Action> asked = scene.loop();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].kind, Kind::choose);
  EXPECT_EQ(asked[0].options.size(), 2u);
  EXPECT_EQ(asked[1].group + "+" + std::to_string(asked[1].delta), "b+2");
}

TEST(ScalerExpander, AnEmptyAnswerOfGrpcIsAVetoFromOneThirtyFiveOn) {
  for (const Version version : {Version::v1_30, Version::v1_35}) {
    Scene scene({.version = version, .expander = Expander::grpc});
    scene.cloud.groups = {group("a", 0, 9, node("a", 2))};
    add_pods(scene, 1, 900);
    EXPECT_EQ(grown(scene.loop_for(Kind::increase)), version == Version::v1_30 ? "a+1" : "none");
  }
}

TEST(ScalerExpander, WithoutAnAnswerOfGrpcAllAreLeft) {
  Scene scene({.version = Version::v1_35, .expander = Expander::grpc});
  scene.cloud.groups = {group("a", 0, 9, node("a", 2))};
  scene.refuses = [](const Action& action) { return action.kind == Kind::choose; };
  add_pods(scene, 1, 900);
  EXPECT_EQ(grown(scene.loop_for(Kind::increase)), "a+1");
}

TEST(ScalerExpander, RandomTakesEveryoneInTime) {
  std::set<std::string> taken;
  Scene scene;
  add_pods(scene, 1, 900);
  for (int i = 0; i < 40; ++i) {
    scene.cloud.groups = {group("a" + std::to_string(i), 0, 9, node("a", 2)),
                          group("b" + std::to_string(i), 0, 9, node("b", 2))};
    taken.insert(grown(scene.loop_for(Kind::increase)).substr(0, 1));
  }
  EXPECT_EQ(taken, (std::set<std::string>{"a", "b"}));
}

TEST(ScalerBackoff, LeavesAGroupAloneAfterARefusalAndLongerTheNextTime) {
  Scene scene;
  scene.cloud.groups = {group("g", 0, 5, node("t", 2))};
  add_pods(scene, 1, 900);
  scene.refuses = [](const Action& action) { return action.kind == Kind::increase; };
  const auto is_asked = [&scene](Duration after) {
    return !scene.loop_for(Kind::increase, after).empty();
  };
  EXPECT_TRUE(is_asked(seconds(10)));
  EXPECT_FALSE(is_asked(seconds(299)));
  EXPECT_TRUE(is_asked(seconds(2)));
  EXPECT_FALSE(is_asked(seconds(599)));
  EXPECT_TRUE(is_asked(seconds(2)));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(is_asked(minutes(31)));  // no more than half an hour
  EXPECT_TRUE(is_asked(hours(4)));                                 // forgotten
  EXPECT_TRUE(is_asked(seconds(301)));
}

}  // namespace
}  // namespace spillway::scaler
