// Who may, what is refused and how, and events as they come.
#include "integration/driver/driver_fixture.h"

namespace spillway::driver {
namespace {

TEST_F(DriverTest, StrangersAreRefused) {
  EXPECT_EQ(ask("GET", "/v1/units", {}, "").status, 401);
  EXPECT_EQ(ask("GET", "/v1/units", {}, "nobody").status, 401);
  EXPECT_EQ(ask("PUT", "/v1/units/" + unit_of(0), order_of(), "nobody").status, 401);
  EXPECT_TRUE(driver->state().units.empty());
}

TEST_F(DriverTest, CallersOrderForTheirOwnClustersAlone) {
  EXPECT_EQ(ask("PUT", "/v1/units/" + unit_of(0), order_of(), "board").status, 403);
  EXPECT_EQ(ask("PUT", "/v1/units/" + unit_of(0), order_of(), "other").status, 403);
  EXPECT_EQ(ask("PUT", "/v1/units/" + unit_of(0), order_of(), "tenant").status, 202);
  EXPECT_EQ(ask("GET", "/v1/units/" + unit_of(0), {}, "other").status, 404);
  EXPECT_EQ(ask("DELETE", "/v1/units/" + unit_of(0), {}, "other").status, 404);
  EXPECT_EQ(ask("DELETE", "/v1/units/" + unit_of(0), {}, "board").status, 403);
  EXPECT_EQ(ask("GET", "/v1/units/" + unit_of(0), {}, "board").status, 200);
  EXPECT_TRUE(model::items_at(ask("GET", "/v1/units", {}, "other").body, {"units"}).empty());
  EXPECT_EQ(ask("GET", "/v1/peerings/rome/milan", {}, "other").status, 404);
  EXPECT_EQ(ask("DELETE", "/v1/peerings/rome/milan", {}, "tenant").status, 409);
}

TEST_F(DriverTest, UnitsOfOthersAreNotNamedInRefusals) {
  const std::string secret = unit_of(0, 1);
  ASSERT_EQ(put(secret, order_of("milan", "rome")).status, 202);
  const Told taken = ask("PUT", "/v1/units/" + unit_of(1, 1), order_of(), "tenant");
  EXPECT_EQ(taken.status, 409);
  EXPECT_NE(taken.text({"reason"}).find("in use"), std::string::npos) << taken.text({"reason"});
  EXPECT_EQ(model::to_json(taken.body).find(secret), std::string::npos);
  const Told shown = put(unit_of(1, 1));
  EXPECT_EQ(shown.status, 409);
  EXPECT_NE(model::to_json(shown.body).find(secret), std::string::npos);
}

TEST_F(DriverTest, WhatMeansNothingIsRefusedByName) {
  EXPECT_EQ(put("sw-nonsense-0").status, 422);
  EXPECT_EQ(put(unit_of(0), "{").status, 400);
  const Told unknown = put(unit_of(0), order_of("rome", "milan", R"(,"labls":{})"));
  EXPECT_EQ(unknown.status, 422);
  EXPECT_NE(unknown.text({"detail"}).find("labels"), std::string::npos) << unknown.text({"detail"});
  EXPECT_EQ(put(unit_of(0), order_of("rome", "rome")).status, 422);
  const Told nowhere = put(unit_of(0), order_of("rome", "oslo"));
  EXPECT_EQ(nowhere.status, 404);
  EXPECT_EQ(nowhere.text({"thing"}), "provider");
  EXPECT_EQ(ask("DELETE", "/v1/units/" + unit_of(5)).status, 404);
  EXPECT_EQ(ask("POST", "/v1/units").status, 405);
  EXPECT_EQ(ask("GET", "/v1/other").status, 404);
  EXPECT_TRUE(driver->state().units.empty());
}

TEST_F(DriverTest, ListsComeInPages) {
  for (int i = 0; i < 5; ++i) put(unit_of(i));
  const Told first = ask("GET", "/v1/units?limit=2");
  ASSERT_EQ(model::items_at(first.body, {"units"}).size(), 2U);
  const Told next = ask("GET", "/v1/units?limit=10&after=" + first.text({"next"}));
  EXPECT_EQ(model::items_at(next.body, {"units"}).size(), 3U);
  EXPECT_EQ(next.text({"next"}), "");
  EXPECT_EQ(ask("GET", "/v1/units?limit=0").status, 422);
  EXPECT_TRUE(model::items_at(ask("GET", "/v1/units?consumer=milan").body, {"units"}).empty());
}

TEST_F(DriverTest, OnlyWhatIsWantedOfAListBecomesDocuments) {
  for (int i = 0; i < 5; ++i) put(unit_of(i));
  put(unit_of(0, 2), order_of("milan", "rome"));
  int asked = 0;
  const auto of_rome = [&](const std::string& consumer, const std::string&) {
    asked += 1;
    return consumer == "rome";
  };
  const auto units = driver->units({unit_of(0), 2, of_rome});
  ASSERT_EQ(units.size(), 2U);
  EXPECT_EQ(units[0].unit, unit_of(1));
  EXPECT_EQ(asked, 2);
  const auto peerings = driver->peerings({{}, 5, of_rome});
  ASSERT_EQ(peerings.size(), 1U);
  EXPECT_EQ(peerings[0].name(), "rome/milan");
  EXPECT_EQ(peerings[0].units.size(), 5U);
  // A page that is full says so only when there is more.
  const Told first = ask("GET", "/v1/peerings?limit=1");
  EXPECT_EQ(first.text({"next"}), "milan/rome");
  const Told last = ask("GET", "/v1/peerings?limit=1&after=milan/rome");
  ASSERT_EQ(model::items_at(last.body, {"peerings"}).size(), 1U);
  EXPECT_EQ(last.text({"next"}), "");
}

TEST_F(DriverTest, EventsTellEveryStepAndAreResumed) {
  const auto stream = begin("GET", "/v1/events");
  const auto others = begin("GET", "/v1/events", {}, "other");
  put(unit_of(0));
  ASSERT_TRUE(comes_to(unit_of(0), "ready"));
  const std::string all = stream->body->bytes;
  for (const char* step : {"asked", "recorded", "carried", "made", "ready"}) {
    EXPECT_NE(all.find(fmt::format(R"("step":"{}")", step)), std::string::npos) << step << all;
  }
  EXPECT_EQ(others->body->bytes.find("asked"), std::string::npos);
  // From the first of them on, as who comes back does.
  const size_t at = all.find("id: ");
  const std::string id = all.substr(at + 4, all.find('\n', at) - at - 4);
  const auto again = begin("GET", "/v1/events", {}, "operator", {{"Last-Event-ID", id}});
  EXPECT_EQ(again->body->bytes.find(id), std::string::npos);
  EXPECT_NE(again->body->bytes.find(R"("step":"ready")"), std::string::npos);
  EXPECT_EQ(begin("GET", "/v1/events?after=5")->response->status, 410);
}

TEST_F(DriverTest, WhoIsStruckOffHearsNothingMore) {
  const auto struck = begin("GET", "/v1/events", {}, "tenant");
  const auto kept = begin("GET", "/v1/events");
  Callers callers;
  callers.add("spillway://driver/operator", {"operator", false, {"*"}, {"*"}});
  face->set_callers(callers);
  EXPECT_TRUE(struck->body->is_closed);
  EXPECT_TRUE(kept->body->is_closed);
  put(unit_of(0));
  EXPECT_EQ(struck->body->bytes.find("asked"), std::string::npos);
  EXPECT_EQ(begin("GET", "/v1/events", {}, "tenant")->response->status, 401);
  const auto again = begin("GET", "/v1/events?after=0");
  ASSERT_TRUE(again->body);
  EXPECT_NE(again->body->bytes.find("asked"), std::string::npos);
}

}  // namespace
}  // namespace spillway::driver
