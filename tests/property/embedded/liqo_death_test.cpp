// A provider that cannot be reached any more, on embedded clusters with Liqo: what its units' pods
// do, that units and peering go without its word, and that it can be bought from again.
#include <gtest/gtest.h>

#include "property/embedded/units_world.h"

namespace spillway::fabric {
namespace {

class LiqoDeath : public ::testing::Test {
 protected:
  LiqoDeath() : world(1), liqos(world.liqos) {
    TestContract& first = world.contract(0);
    first.is_bought = first.is_sold = true;
    EXPECT_TRUE(world.runs_until([&] { return world.is_ready(0); }));
    unit = first.units[0];
    add_pod("web", "");
    add_pod("db-0", R"("statefulset.kubernetes.io/pod-name":"db-0")");
  }

  void add_pod(const std::string& name, const std::string& label) {
    const auto made = liqos.ask(
        *liqos.buyer, "POST", "/api/v1/namespaces/default/pods",
        fmt::format(
            R"({{"metadata":{{"name":"{}","labels":{{{}}}}},"spec":{{"nodeName":"{}",)"
            R"("tolerations":[{{"key":"virtual-node.liqo.io/not-allowed","operator":"Exists"}}],)"
            R"("containers":[{{"name":"main","image":"none"}}]}}}})",
            name, label, unit));
    EXPECT_EQ(made.status, 201) << model::to_json(made.body);
  }
  model::Node pod(const std::string& name) {
    return liqos.get(*liqos.buyer, {liqo::k_pods, "default", name});
  }
  bool is_staying(const std::string& name) {
    const model::Node found = pod(name);
    return !found.items.empty() && model::text_at(found, {"metadata", "deletionTimestamp"}).empty();
  }
  // Both signs are there.
  void kill_provider() {
    liqos.is_seller_dead = true;
    ASSERT_TRUE(world.runs_until([&] {
      const auto foreign = liqos.buyer_sight().foreign;
      return foreign && !foreign->is_reachable();
    }));
    world.life.life = Life::dead;
    world.life.unheard = liqos.loop.now();
  }
  void run_for(Duration time) {
    const Instant until = liqos.loop.now() + time;
    while (liqos.loop.now() < until) world.round();
  }

  UnitsWorld world;
  EmbeddedLiqos& liqos;
  std::string unit;
};

TEST_F(LiqoDeath, WorkWithoutIdentityGoesTheRestStaysAndAReturnChangesNothing) {
  kill_provider();
  ASSERT_TRUE(world.runs_until([&] { return !is_staying("web"); }));
  run_for(minutes(10));  // beyond Kubernetes' own patience with nodes that are not ready
  EXPECT_TRUE(is_staying("db-0"));
  liqos.is_seller_dead = false;
  world.life.life = Life::alive;
  ASSERT_TRUE(world.runs_until([&] { return world.is_ready(0) && world.is_quiet(); }));
  EXPECT_TRUE(is_staying("db-0"));
  EXPECT_FALSE(is_closed(liqos.buyer_sight().units.at(unit).node->taints));
}

TEST_F(LiqoDeath, AfterTheFenceUnitsGoWithoutTheProviderAndComeBackWithIt) {
  kill_provider();
  run_for(minutes(4));
  EXPECT_TRUE(is_staying("db-0"));
  world.life.is_given_up = true;
  run_for(minutes(2));
  EXPECT_TRUE(pod("db-0").items.empty());
  EXPECT_TRUE(liqos.buyer_sight().units.empty());
  liqos.is_seller_dead = false;
  world.life = {};
  ASSERT_TRUE(world.runs_until([&] { return world.is_ready(0) && world.is_quiet(); }));
}

TEST_F(LiqoDeath, AReleaseIsDoneInSecondsAndThePeeringGoesByForce) {
  ASSERT_EQ(liqos.ask(*liqos.buyer, "DELETE", "/api/v1/namespaces/default/pods/db-0").status, 200);
  kill_provider();
  const Instant released = liqos.loop.now();
  world.contract(0).is_bought = world.contract(0).is_sold = false;
  ASSERT_TRUE(world.runs_until([&] {
    return liqos.buyer_sight().units.empty() && left_of_peering(liqos, false).empty();
  })) << fmt::format("left: {}", fmt::join(left_of_peering(liqos, false), ", "));
  EXPECT_LE((liqos.loop.now() - released).ms, seconds(10).ms);
  ASSERT_TRUE(world.runs_until([&] { return is_clear(liqos.buyer_sight()); }));

  // It is back: what nobody pays for is gone there, and the next contract is as any other.
  liqos.is_seller_dead = false;
  world.life = {};
  TestContract& second = world.contract(1);
  second.is_bought = second.is_sold = true;
  ASSERT_TRUE(world.runs_until([&] { return world.is_ready(1); }));
  EXPECT_TRUE(world.left_of(0).empty());
}

}  // namespace
}  // namespace spillway::fabric
