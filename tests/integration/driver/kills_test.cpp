// A driver that is killed anywhere goes on from what was acknowledged and what is there.
#include "integration/driver/driver_fixture.h"

namespace spillway::driver {
namespace {

TEST_F(DriverTest, WhatWasAcknowledgedSurvivesEveryKill) {
  put(unit_of(0));
  kill();
  start();
  EXPECT_TRUE(comes_to(unit_of(0), "ready"));
  ask("DELETE", "/v1/units/" + unit_of(0));
  kill();
  start();
  EXPECT_TRUE(comes_to(unit_of(0), "gone"));
  EXPECT_EQ(left_of(unit_of(0)), std::vector<std::string>());
}

// The whole life of a unit, killed after every step that anybody could have seen and in between.
TEST_F(DriverTest, KilledAtEveryMomentItConverges) {
  for (int moment = 0; moment < 24; ++moment) {
    const std::string unit = unit_of(moment, 1 + moment % 3);
    ASSERT_EQ(put(unit).status, 202);
    live(moment);
    kill();
    start();
    ASSERT_TRUE(comes_to(unit, "ready")) << "killed after " << moment;
    EXPECT_TRUE(is_ready(*liqos.buyer, unit));
    ask("DELETE", "/v1/units/" + unit);
    live(moment);
    kill();
    start();
    ASSERT_TRUE(comes_to(unit, "gone")) << "killed after " << moment;
    EXPECT_EQ(left_of(unit), std::vector<std::string>()) << "killed after " << moment;
  }
}

// Killed before and after each save, which is when it matters what was written down.
TEST_F(DriverTest, KilledAroundEverySaveItConverges) {
  for (int crash = 1; crash <= 16; ++crash) {
    const std::string unit = unit_of(crash);
    const bool is_before = crash % 2 == 0;
    (is_before ? store.crash_before : store.crash_after) = store.saves + crash / 2 + 1;
    const auto exchange = begin("PUT", "/v1/units/" + unit, order_of());
    live(40);
    const bool is_acknowledged = exchange->response.has_value();
    store.crash_before = 0;
    store.crash_after = 0;
    kill();
    start();
    live(8);
    if (is_acknowledged) {
      EXPECT_EQ(ask("GET", "/v1/units/" + unit).status, 200) << crash;
    }
    put(unit);
    ASSERT_TRUE(comes_to(unit, "ready")) << "crash " << crash;
    ask("DELETE", "/v1/units/" + unit);
    ASSERT_TRUE(comes_to(unit, "gone")) << "crash " << crash;
    EXPECT_EQ(left_of(unit), std::vector<std::string>()) << "crash " << crash;
  }
}

// One of the API servers, or both, is started anew after every 25 ms of a unit's life.
TEST_F(DriverTest, WithoutApiServersForAWhileItConverges) {
  const auto restart = [&](int which) {
    if (which % 3 != 0) liqos.buyer->restart(seconds(3));
    if (which % 3 != 1) liqos.seller->restart(seconds(3));
  };
  for (int moment = 0; moment < 24; ++moment) {
    const std::string unit = unit_of(moment, 1 + moment % 3);
    ASSERT_EQ(put(unit).status, 202);
    live(moment);
    restart(moment);
    ASSERT_TRUE(comes_to(unit, "ready")) << "away after " << moment << ": " << step_of(unit);
    EXPECT_TRUE(comes([&] { return is_ready(*liqos.buyer, unit); })) << "away after " << moment;
    ask("DELETE", "/v1/units/" + unit);
    live(moment);
    restart(moment + 1);
    ASSERT_TRUE(comes_to(unit, "gone")) << "away after " << moment << ": " << step_of(unit);
    live(400);  // until whoever was away has answered
    EXPECT_EQ(left_of(unit), std::vector<std::string>()) << "away after " << moment;
  }
}

// Law 3: what a consumer has of a unit goes without its provider, also when nobody has seen that
// one in this life of the driver; what is left there is given up when its operator says so.
TEST_F(DriverTest, AProviderThatIsDeadFromTheStartKeepsNobodyFromReleasing) {
  const std::string unit = unit_of(0);
  put(unit);
  ASSERT_TRUE(comes_to(unit, "ready"));
  kill();
  liqos.is_seller_dead = true;
  start();
  live(200);
  ask("DELETE", "/v1/units/" + unit);
  EXPECT_TRUE(comes([&] { return node(*liqos.buyer, unit).items.empty(); }, 6000));
  EXPECT_TRUE(comes([&] { return driver->state().units.at(unit).ended.has_value(); }, 6000));
  live(40);  // until it is saved
  EXPECT_EQ(step_of(unit), "ending");
  const std::string told = model::to_json(ask("GET", "/v1/units/" + unit).body);
  EXPECT_NE(told.find("cluster milan"), std::string::npos) << told;
  EXPECT_NE(told.find("its fabric is not ours"), std::string::npos) << told;
  kill();
  is_milan_listed = false;
  start();
  EXPECT_TRUE(comes_to(unit, "gone")) << step_of(unit);
}

// Law 3: what a provider has of a unit goes without its consumer, once that has had its time.
class AConsumerThatIsAway : public DriverTest {
 protected:
  void come_to_ready() {
    put(unit);
    ASSERT_TRUE(comes_to(unit, "ready"));
    live(20);
  }
  void restart_without_rome() {
    kill();
    is_rome_away = true;
    start();
    live(200);
  }
  // As long as a unit has to become empty.
  void wait_out() { loop().run_for(minutes(5)); }
  bool is_provided() {
    return !liqos.list(*liqos.seller, fabric::liqo::k_slices).empty() ||
           !liqos.list(*liqos.seller, fabric::liqo::k_quotas).empty();
  }

  const std::string unit = unit_of(0);
};

TEST_F(AConsumerThatIsAway, FromTheStartKeepsNoProvider) {
  come_to_ready();
  restart_without_rome();
  EXPECT_EQ(ask("DELETE", "/v1/units/" + unit).status, 202);
  wait_out();
  EXPECT_TRUE(is_provided());  // it may be back any moment
  EXPECT_TRUE(comes([&] { return !is_provided(); }, 6000));
  // Nobody knows that its node has gone.
  EXPECT_EQ(step_of(unit), "ending");
  const std::string told = model::to_json(ask("GET", "/v1/units/" + unit).body);
  EXPECT_NE(told.find("cluster rome"), std::string::npos) << told;
  kill();
  start();
  live(200);
  EXPECT_FALSE(is_provided());
  is_rome_away = false;
  ASSERT_TRUE(comes_to(unit, "gone")) << step_of(unit);
  EXPECT_EQ(left_of(unit), std::vector<std::string>());
  ASSERT_EQ(put(unit_of(0, 2)).status, 202);
  EXPECT_TRUE(comes_to(unit_of(0, 2), "ready"));
}

TEST_F(AConsumerThatIsAway, SinceAMomentAgoKeepsNoProvider) {
  come_to_ready();
  is_rome_away = true;
  liqos.buyer->restart(seconds(1));  // or open streams would tell of it
  ask("DELETE", "/v1/units/" + unit);
  wait_out();
  EXPECT_TRUE(comes([&] { return !is_provided(); }, 6000));
  EXPECT_EQ(step_of(unit), "ending");
  is_rome_away = false;
  ASSERT_TRUE(comes_to(unit, "gone")) << step_of(unit);
  EXPECT_EQ(left_of(unit), std::vector<std::string>());
}

TEST_F(AConsumerThatIsAway, GoesOutOfTheFileOnceItsUnitsAreToEnd) {
  come_to_ready();
  restart_without_rome();
  is_rome_listed = false;
  const Status refused = try_to_start();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().thing, "cluster rome");
  is_rome_listed = true;
  start();
  ask("DELETE", "/v1/units/" + unit);
  live(20);
  kill();
  is_rome_listed = false;
  start();
  // Nor is it waited for any more.
  EXPECT_TRUE(comes_to(unit, "gone")) << step_of(unit);
  EXPECT_FALSE(is_provided());
}

// Nobody knows its units any more, and so they end.
TEST_F(AConsumerThatIsAway, HasNothingLeftWhenItIsListedAgain) {
  come_to_ready();
  restart_without_rome();
  ask("DELETE", "/v1/units/" + unit);
  live(20);
  kill();
  is_rome_listed = false;
  start();
  ASSERT_TRUE(comes_to(unit, "gone")) << step_of(unit);
  EXPECT_FALSE(left_of(unit).empty());
  live(20);
  kill();
  is_rome_listed = true;
  is_rome_away = false;
  start();
  EXPECT_TRUE(comes([&] { return left_of(unit).empty(); }, 6000)) << left_of(unit).front();
  ASSERT_EQ(put(unit_of(0, 2)).status, 202);
  EXPECT_TRUE(comes_to(unit_of(0, 2), "ready"));
}

TEST_F(DriverTest, ASecondRunDoesNothing) {
  put(unit_of(0));
  put(unit_of(0, 2), order_of("milan", "rome"));
  ASSERT_TRUE(comes_to(unit_of(0), "ready"));
  ASSERT_TRUE(comes_to(unit_of(0, 2), "ready"));
  live(200);
  const auto versions = [&] {
    std::vector<std::string> all;
    for (embedded::Cluster* cluster : {liqos.buyer.get(), liqos.seller.get()}) {
      for (const auto& kind : {fabric::liqo::k_slices, fabric::liqo::k_virtual_nodes,
                               fabric::liqo::k_tenants, fabric::liqo::k_identities}) {
        for (const model::Node& object : liqos.list(*cluster, kind)) {
          all.emplace_back(model::text_at(object, {"metadata", "resourceVersion"}));
        }
      }
    }
    return all;
  };
  const auto before = versions();
  kill();
  start();
  live(400);
  EXPECT_EQ(versions(), before);
  EXPECT_EQ(step_of(unit_of(0)), "ready");
}

TEST_F(DriverTest, APeeringThatIsKeptOutlivesItsDriver) {
  const std::string path = "/v1/peerings/rome/milan";
  ask("PUT", path, R"({"version":1})");
  ASSERT_TRUE(comes([&] { return is_open(path); }));
  live(20);
  kill();
  start();
  ASSERT_TRUE(comes([&] { return is_open(path); }));
  EXPECT_TRUE(model::boolean_at(ask("GET", path).body, {"kept"}));
}

TEST_F(DriverTest, APeeringThatWasDeletedClosesAfterAKill) {
  const std::string path = "/v1/peerings/rome/milan";
  ask("PUT", path, R"({"version":1})");
  ASSERT_TRUE(comes([&] { return is_open(path); }));
  live(20);
  ASSERT_EQ(begin("DELETE", path)->response->status, 202);
  kill();
  start();
  loop().run();
  EXPECT_TRUE(model::boolean_at(ask("GET", path).body, {"closing"}));
  // Long before one that nobody wants is closed anyway.
  EXPECT_TRUE(comes([&] { return ask("GET", path).status == 404; }, 4000))
      << model::to_json(ask("GET", path).body);
  EXPECT_TRUE(driver->state().closing.empty());
  EXPECT_TRUE(liqos.list(*liqos.seller, fabric::liqo::k_tenants).empty());
  EXPECT_TRUE(liqos.list(*liqos.buyer, fabric::liqo::k_identities).empty());
}

// As that of a Deployment, whose next pod has another name.
TEST_F(DriverTest, StartedOnAnotherHostItFollowsItself) {
  put(unit_of(0));
  ASSERT_TRUE(comes_to(unit_of(0), "ready"));
  kill();
  holder = "driver on another host";
  start();
  EXPECT_TRUE(comes([&] { return driver->is_seeing(); }));
  ask("DELETE", "/v1/units/" + unit_of(0));
  EXPECT_TRUE(comes_to(unit_of(0), "gone"));
  EXPECT_EQ(left_of(unit_of(0)), std::vector<std::string>());
}

TEST_F(DriverTest, NobodyElsesDriverFollowsOneThatHasLeftUnits) {
  put(unit_of(0));
  ASSERT_TRUE(comes_to(unit_of(0), "ready"));
  kill();
  store = agent::MemoryState();
  holder = "driver on another host";
  start();
  EXPECT_FALSE(comes([&] { return driver->is_seeing(); }));
  EXPECT_TRUE(is_ready(*liqos.buyer, unit_of(0)));
}

TEST_F(DriverTest, WhatIsDeletedByHandIsMadeAgain) {
  put(unit_of(0));
  ASSERT_TRUE(comes_to(unit_of(0), "ready"));
  liqos.ask(*liqos.buyer, "DELETE",
            "/apis/authentication.liqo.io/v1beta1/namespaces/liqo-tenant-milan/resourceslices/" +
                unit_of(0));
  ASSERT_TRUE(comes([&] { return step_of(unit_of(0)) != "ready"; }));
  EXPECT_TRUE(comes_to(unit_of(0), "ready"));
}

// As the way out of a state that has no room for names any more.
TEST_F(DriverTest, WhoStopsWithNoUnitsIsFollowedByAnotherThatKnowsNothing) {
  ask("PUT", "/v1/peerings/rome/milan", R"({"version":1})");
  ASSERT_TRUE(comes([&] { return is_open("/v1/peerings/rome/milan"); }));
  bool is_stopped = false;
  driver->stop([&] { is_stopped = true; });
  ASSERT_TRUE(comes([&] { return is_stopped; }));
  kill();
  store = agent::MemoryState();
  start();
  EXPECT_TRUE(comes([&] { return driver->is_seeing(); }));
  loop().run_for(minutes(32));  // nobody keeps that peering any more
  EXPECT_TRUE(comes([&] {
    return liqos.list(*liqos.buyer, fabric::liqo::k_identities).empty() &&
           liqos.list(*liqos.seller, fabric::liqo::k_tenants).empty();
  }));
}

}  // namespace
}  // namespace spillway::driver
