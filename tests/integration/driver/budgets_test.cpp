// A disruption budget is asked for as long as a unit has to become empty, and no longer (law 3).
#include "integration/driver/driver_fixture.h"

namespace spillway::driver {
namespace {

class ABudgetThatRefuses : public DriverTest {
 protected:
  ABudgetThatRefuses() {
    create("/api/v1/namespaces", R"({"metadata":{"name":"shop"}})");
    create("/apis/offloading.liqo.io/v1beta1/namespaces/shop/namespaceoffloadings",
           R"({"metadata":{"name":"offloading"},"spec":{)"
           R"("namespaceMappingStrategy":"DefaultName","podOffloadingStrategy":"Remote",)"
           R"("clusterSelector":{"nodeSelectorTerms":[{"matchExpressions":[)"
           R"({"key":"liqo.io/remote-cluster-id","operator":"Exists"}]}]}}})");
    create("/apis/policy/v1/namespaces/shop/poddisruptionbudgets",
           R"({"metadata":{"name":"web"},"spec":{"minAvailable":1,)"
           R"("selector":{"matchLabels":{"app":"web"}}}})");
    create("/apis/apps/v1/namespaces/shop/deployments",
           R"({"metadata":{"name":"web"},"spec":{"replicas":1,)"
           R"("selector":{"matchLabels":{"app":"web"}},)"
           R"("template":{"metadata":{"labels":{"app":"web"}},"spec":{)"
           R"("nodeSelector":{"liqo.io/type":"virtual-node"},"containers":[)"
           R"({"name":"main","image":"none","resources":{"requests":{"cpu":"100m"}}}]}}}})");
    put(unit);
  }
  void create(const std::string& path, const std::string& body) {
    const auto made = liqos.ask(*liqos.buyer, "POST", path, body);
    EXPECT_EQ(made.status, 201) << model::to_json(made.body);
  }
  // Of those that run on the unit.
  std::vector<std::string> pods() {
    std::vector<std::string> names;
    for (const model::Node& pod : liqos.list(*liqos.buyer, fabric::liqo::k_pods, "shop")) {
      const bool is_there = model::text_at(pod, {"spec", "nodeName"}) == unit;
      const bool is_running = model::text_at(pod, {"status", "phase"}) == "Running";
      if (is_there && is_running) names.emplace_back(kube::name_in(pod));
    }
    return names;
  }
  bool is_guarded() {
    const auto budget =
        liqos.ask(*liqos.buyer, "GET", "/apis/policy/v1/namespaces/shop/poddisruptionbudgets/web");
    return model::integer_at(budget.body, {"status", "currentHealthy"}) == 1;
  }

  const std::string unit = unit_of(0);
};

TEST_F(ABudgetThatRefuses, KeepsAUnitForItsTimeAlone) {
  ASSERT_TRUE(comes([&] { return pods().size() == 1 && is_guarded(); }));
  const std::string pod = pods().front();
  ASSERT_EQ(ask("DELETE", "/v1/units/" + unit).status, 202);
  loop().run_for(minutes(4));
  EXPECT_EQ(pods(), std::vector<std::string>{pod});
  EXPECT_EQ(step_of(unit), "draining");
  const std::string told = model::to_json(ask("GET", "/v1/units/" + unit).body);
  EXPECT_NE(told.find("disruption budget"), std::string::npos) << told;
  loop().run_for(seconds(90));
  ASSERT_TRUE(comes_to(unit, "gone")) << step_of(unit);
  EXPECT_EQ(left_of(unit), std::vector<std::string>());
  EXPECT_TRUE(liqos.list(*liqos.seller, fabric::liqo::k_shadow_pods).empty());
}

// Nobody pays for it any more, and its provider has ended what ran there: Liqo asks the budget all
// the same, and a pod that is not ready may go only beside enough that are.
TEST_F(ABudgetThatRefuses, KeepsNothingThatNobodyPaysFor) {
  ASSERT_TRUE(comes([&] { return pods().size() == 1 && is_guarded(); }));
  live(20);
  kill();
  is_rome_away = true;
  start();
  ask("DELETE", "/v1/units/" + unit);
  live(20);
  kill();
  is_rome_listed = false;
  start();
  ASSERT_TRUE(comes_to(unit, "gone")) << step_of(unit);
  live(20);
  kill();
  is_rome_listed = true;
  is_rome_away = false;
  start();
  EXPECT_TRUE(comes([&] { return left_of(unit).empty(); })) << left_of(unit).front();
}

}  // namespace
}  // namespace spillway::driver
