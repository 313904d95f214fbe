// A cluster that is listed by another name than it was.
#include "integration/driver/driver_fixture.h"

namespace spillway::driver {
namespace {

class Renamed : public DriverTest {
 protected:
  void rename() {
    live(20);  // until all is saved
    kill();
    milan = "mailand";
  }
  bool is_old_name_kept() const {
    return driver->state().liqo_ids.contains("milan") || driver->state().fabrics.contains("milan");
  }
  static int count(const std::string& text, const std::string& word) {
    int found = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
      ++found;
    return found;
  }
};

TEST_F(Renamed, WhatWasKeptGoesOnByTheNewName) {
  const std::string before = "/v1/peerings/rome/milan";
  const std::string after = "/v1/peerings/rome/mailand";
  ask("PUT", before, R"({"version":1})");
  put(unit_of(0));
  ASSERT_TRUE(comes_to(unit_of(0), "ready"));
  ask("DELETE", "/v1/units/" + unit_of(0));
  ASSERT_TRUE(comes_to(unit_of(0), "gone"));
  rename();
  start();
  ASSERT_TRUE(comes([&] { return is_open(after); })) << model::to_json(ask("GET", after).body);
  EXPECT_TRUE(model::boolean_at(ask("GET", after).body, {"kept"}));
  EXPECT_EQ(ask("GET", before).status, 404);
  EXPECT_FALSE(is_old_name_kept());
  put(unit_of(0, 2), order_of("rome", "mailand"));
  ASSERT_TRUE(comes_to(unit_of(0, 2), "ready"));
  ask("DELETE", "/v1/units/" + unit_of(0, 2));
  ASSERT_TRUE(comes_to(unit_of(0, 2), "gone"));
  ask("DELETE", after);
  EXPECT_TRUE(comes([&] { return ask("GET", after).status == 404; }, 4000));
  EXPECT_TRUE(liqos.list(*liqos.seller, fabric::liqo::k_tenants).empty());
  EXPECT_TRUE(liqos.list(*liqos.buyer, fabric::liqo::k_identities).empty());
}

// As a consumer, too; and what nobody keeps closes as it would have.
TEST_F(Renamed, AWarmPeeringIsSeenByTheNewNameAndClosed) {
  put(unit_of(0), order_of("milan", "rome"));
  ASSERT_TRUE(comes_to(unit_of(0), "ready"));
  ask("DELETE", "/v1/units/" + unit_of(0));
  ASSERT_TRUE(comes_to(unit_of(0), "gone"));
  rename();
  start();
  EXPECT_TRUE(comes([&] { return is_open("/v1/peerings/mailand/rome"); }));
  EXPECT_EQ(ask("GET", "/v1/peerings/milan/rome").status, 404);
  loop().run_for(minutes(32));
  live(400);
  EXPECT_EQ(ask("GET", "/v1/peerings/mailand/rome").status, 404);
  EXPECT_TRUE(liqos.list(*liqos.buyer, fabric::liqo::k_tenants).empty());
  EXPECT_TRUE(liqos.list(*liqos.seller, fabric::liqo::k_identities).empty());
}

TEST_F(Renamed, AsLongAsUnitsLiveByTheOldNameThatStays) {
  put(unit_of(0));
  ASSERT_TRUE(comes_to(unit_of(0), "ready"));
  rename();
  const Status refused = try_to_start();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().thing, "cluster milan");
  EXPECT_NE(refused.error().reason.find(unit_of(0)), std::string::npos);
  EXPECT_NE(refused.error().next.find("by that name"), std::string::npos);
  milan = "milan";
  start();
  EXPECT_TRUE(comes_to(unit_of(0), "ready"));
}

// It is not gone by being renamed: what is left there is waited for.
TEST_F(Renamed, AUnitThatEndsThereEndsByTheNewName) {
  const std::string unit = unit_of(0);
  put(unit);
  ASSERT_TRUE(comes_to(unit, "ready"));
  liqos.is_seller_dead = true;
  ask("DELETE", "/v1/units/" + unit);
  ASSERT_TRUE(comes([&] { return driver->state().units.at(unit).ended.has_value(); }, 20'000));
  rename();
  start();
  live(400);
  EXPECT_EQ(step_of(unit), "ending");
  liqos.is_seller_dead = false;
  ASSERT_TRUE(comes_to(unit, "gone"));
  EXPECT_EQ(left_of(unit), std::vector<std::string>());
  EXPECT_EQ(ask("GET", "/v1/units/" + unit).text({"provider"}), "mailand");
  EXPECT_FALSE(is_old_name_kept());
}

// Nor is a consumer: it is still drained and taken down.
TEST_F(Renamed, AUnitThatIsToEndAtItsConsumerEndsByTheNewName) {
  const std::string unit = unit_of(0);
  put(unit, order_of("milan", "rome"));
  ASSERT_TRUE(comes_to(unit, "ready"));
  live(20);
  liqos.is_seller_dead = true;
  ask("DELETE", "/v1/units/" + unit);
  rename();
  start();
  live(400);
  EXPECT_NE(step_of(unit), "gone");
  liqos.is_seller_dead = false;
  ASSERT_TRUE(comes_to(unit, "gone"));
  EXPECT_EQ(left_of(unit), std::vector<std::string>());
  EXPECT_EQ(ask("GET", "/v1/units/" + unit).text({"consumer"}), "mailand");
  EXPECT_FALSE(is_old_name_kept());
}

// A name that was another cluster's: whatever is kept by either id, that one does not get it, nor
// when it says so again.
TEST_F(Renamed, NobodyTakesOverAnothersPeeringsByItsLiqoId) {
  ask("PUT", "/v1/peerings/rome/milan", R"({"version":1})");
  ASSERT_TRUE(comes([&] { return is_open("/v1/peerings/rome/milan"); }));
  live(20);
  kill();
  rome = "milan";
  is_milan_listed = false;
  for (int times = 0; times < 3; ++times) {
    start();
    live(100);
    EXPECT_EQ(driver->state().liqo_ids,
              (std::map<std::string, std::string>{{"milan", "milan"}, {"rome", "rome"}}));
    EXPECT_TRUE(driver->state().peerings.contains("rome/milan"));
    const Told told = ask("GET", "/v1/peerings/rome/milan");
    EXPECT_NE(model::to_json(told.body).find("is that of rome"), std::string::npos)
        << model::to_json(told.body);
    kill();
  }
}

// Also if it is the first that is read; and when it takes its word back all goes on.
TEST_F(Renamed, WhoClaimsAnothersLiqoIdDoesNotStopIt) {
  const std::string unit = unit_of(0);
  put(unit);
  ASSERT_TRUE(comes_to(unit, "ready"));
  live(20);
  kill();
  const auto call_milan = [this](const char* id) {
    const auto told = liqos.ask(
        *liqos.seller, "PATCH", "/api/v1/namespaces/liqo/configmaps/liqo-clusterid-configmap",
        fmt::format(R"({{"data":{{"CLUSTER_ID":"{}"}}}})", id), "application/merge-patch+json");
    EXPECT_EQ(told.status, 200);
  };
  call_milan("rome");
  is_rome_away = true;
  start();
  const auto troubles = [&] { return model::to_json(ask("GET", "/v1/peerings/rome/milan").body); };
  ASSERT_TRUE(comes([&] { return troubles().find("is that of rome") != std::string::npos; }))
      << troubles();
  is_rome_away = false;
  ASSERT_TRUE(comes([&] { return driver->is_seeing(); }));
  ask("DELETE", "/v1/units/" + unit);
  EXPECT_TRUE(comes([&] { return !is_ready(*liqos.buyer, unit); })) << "rome goes on";
  call_milan("milan");
  EXPECT_TRUE(comes([&] { return step_of(unit) == "gone"; }, 20'000)) << troubles();
}

TEST_F(Renamed, WhatWasToldByTheOldNameIsToldAsMended) {
  ask("PUT", "/v1/peerings/rome/milan", R"({"version":1})");
  ASSERT_TRUE(comes([&] { return is_open("/v1/peerings/rome/milan"); }));
  rename();
  liqos.is_seller_dead = true;
  start();
  const auto stream = begin("GET", "/v1/events?after=0");
  const std::string told = R"("kind":"trouble","consumer":"rome","provider":"milan")";
  const std::string mended = R"("kind":"mended","consumer":"rome","provider":"milan")";
  ASSERT_TRUE(comes([&] { return count(stream->body->bytes, told) > 0; }, 4000))
      << stream->body->bytes;
  liqos.is_seller_dead = false;
  ASSERT_TRUE(comes([&] { return is_open("/v1/peerings/rome/mailand"); }, 4000));
  EXPECT_EQ(count(stream->body->bytes, told), count(stream->body->bytes, mended))
      << stream->body->bytes;
}

}  // namespace
}  // namespace spillway::driver
