// Orders become nodes, and end, in two embedded clusters with Liqo.
#include <algorithm>

#include "integration/driver/driver_fixture.h"

namespace spillway::driver {
namespace {

TEST_F(DriverTest, AnOrderBecomesAReadyNodeAsItWasOrdered) {
  const std::string unit = unit_of(0);
  const Told told = put(unit, order_of("rome", "milan",
                                       R"(,"labels":{"disk":"ssd"},"annotations":{"team":"a"},)"
                                       R"("taints":[{"key":"spot","effect":"NoSchedule"}])"));
  ASSERT_EQ(told.status, 202) << model::to_json(told.body);
  EXPECT_EQ(told.text({"step"}), "asked");
  ASSERT_TRUE(comes_to(unit, "ready")) << step_of(unit);
  EXPECT_TRUE(is_ready(*liqos.buyer, unit));
  const model::Node made = node(*liqos.buyer, unit);
  EXPECT_EQ(model::text_at(made, {"spec", "providerID"}),
            "spillway://" + unit.substr(3, 26) + "/0");
  const model::Node dressed =
      liqos.get(*liqos.buyer, {fabric::liqo::k_virtual_nodes, "liqo-tenant-milan", unit});
  EXPECT_EQ(model::text_at(dressed, {"spec", "labels", "disk"}), "ssd");
  EXPECT_EQ(model::text_at(dressed, {"spec", "labels", "spillway.dev/provider"}), "milan");
  EXPECT_EQ(model::text_at(dressed, {"spec", "annotations", "team"}), "a");
  const Told shown = ask("GET", "/v1/units/" + unit);
  std::vector<std::string> steps;
  for (const model::Node& one : model::items_at(shown.body, {"steps"})) {
    steps.emplace_back(model::text_at(one, {"step"}));
  }
  EXPECT_EQ(steps.front(), "asked");
  EXPECT_EQ(steps.back(), "ready");
  EXPECT_TRUE(model::items_at(shown.body, {"troubles"}).empty()) << model::to_json(shown.body);
}

TEST_F(DriverTest, WhatOthersActOnStaysInTheOrder) {
  const std::string unit = unit_of(0);
  const std::string said =
      R"(,"labels":{"disk":"ssd","spillway.dev/provider":"oslo","spillway.dev/offer":"small",)"
      R"("spillway.dev/gpu-model":"nvidia-a100","kubernetes.io/arch":"arm64","liqo.io/type":"x",)"
      R"("node-role.kubernetes.io/control-plane":"","node-restriction.kubernetes.io/secure":"yes"},)"
      R"("annotations":{"team":"a","spillway.dev/owner":"lab/rome","spillway.dev/back-end":"kwok",)"
      R"("liqo.io/x":"y","cluster-autoscaler.kubernetes.io/scale-down-disabled":"true"})";
  ASSERT_EQ(put(unit, order_of("rome", "milan", said)).status, 202);
  ASSERT_TRUE(comes_to(unit, "ready"));
  const model::Node made =
      liqos.get(*liqos.buyer, {fabric::liqo::k_virtual_nodes, "liqo-tenant-milan", unit});
  const auto label = [&](const char* key) { return model::text_at(made, {"spec", "labels", key}); };
  EXPECT_EQ(label("disk"), "ssd");
  EXPECT_EQ(label("kubernetes.io/arch"), "arm64");
  EXPECT_EQ(label("spillway.dev/provider"), "milan");
  EXPECT_EQ(label("spillway.dev/offer"), "small");
  EXPECT_EQ(label("spillway.dev/gpu-model"), "nvidia-a100");
  for (const char* key : {"liqo.io/type", "node-role.kubernetes.io/control-plane",
                          "node-restriction.kubernetes.io/secure"}) {
    EXPECT_EQ(model::look(made, {"spec", "labels", key}), nullptr) << key;
  }
  EXPECT_EQ(model::text_at(made, {"spec", "annotations", "team"}), "a");
  for (const char* key : {"spillway.dev/owner", "spillway.dev/back-end", "liqo.io/x",
                          "cluster-autoscaler.kubernetes.io/scale-down-disabled"}) {
    EXPECT_EQ(model::look(made, {"spec", "annotations", key}), nullptr) << key;
  }
  const Told shown = ask("GET", "/v1/units/" + unit);
  EXPECT_EQ(shown.text({"annotations", "spillway.dev/owner"}), "lab/rome");
}

// What is noted of it on its way, on both sides, has room from the start. What is kept of peers is
// none of it: all units of a peering have that in common.
TEST_F(DriverTest, WhatAUnitTakesOfTheFileIsCountedWhenItIsOrdered) {
  const std::string unit = unit_of(9999);
  const auto size = [&] {
    DriverState state = driver->state();
    for (auto& [name, fabric] : state.fabrics) fabric = {fabric.contracts, {}, {}, {}};
    for (auto& [name, one] : state.units) {
      one.steps.resize(Driver::k_most_steps, {fabric::UnitStep::recorded, loop().now()});
    }
    return to_json(state).size();
  };
  const size_t before = size();
  const std::string order = order_of("rome", "milan",
                                     R"(,"labels":{"disk":"ssd"},"annotations":{"team":"a"},)"
                                     R"("taints":[{"key":"spot","effect":"NoSchedule"}])");
  ASSERT_EQ(put(unit, order).status, 202);
  size_t most = 0;
  const auto is_at = [&](const std::string& step) {
    most = std::max(most, size() - before);
    return step_of(unit) == step;
  };
  ASSERT_TRUE(comes([&] { return is_at("ready"); }));
  ask("DELETE", "/v1/units/" + unit);
  ASSERT_TRUE(comes([&] { return is_at("gone"); }));
  const size_t counted = driver->state().units.at(unit).bytes;
  EXPECT_LE(most, counted);
  EXPECT_GT(most * 2, counted) << "far more than it takes";
  kill();
  start();
  EXPECT_EQ(driver->state().units.at(unit).bytes, counted);
}

// Whoever may write the slice: it goes as if its order had been taken back, on both sides.
TEST_F(DriverTest, AUnitWhoseSliceSaysThatItIsToEndGoesOnBothSides) {
  const auto say_end = [this](const std::string& unit) {
    const auto said = liqos.ask(
        *liqos.buyer, "PATCH",
        "/apis/authentication.liqo.io/v1beta1/namespaces/liqo-tenant-milan/resourceslices/" + unit,
        R"({"metadata":{"annotations":{"spillway.dev/end":"true"}}})",
        "application/merge-patch+json");
    EXPECT_EQ(said.status, 200) << model::to_json(said.body);
  };
  const std::string unit = unit_of(0);
  const std::string next = unit_of(1);
  for (const std::string& one : {unit, next}) put(one);
  for (const std::string& one : {unit, next}) ASSERT_TRUE(comes_to(one, "ready"));
  say_end(unit);
  ASSERT_TRUE(comes_to(unit, "gone")) << step_of(unit) << ": " << troubles_of(unit);
  EXPECT_EQ(left_of(unit), std::vector<std::string>());
  EXPECT_EQ(step_of(next), "ready");
  EXPECT_EQ(put(unit).status, 409) << "names are never used again";
  EXPECT_EQ(troubles_of(unit), "");
  // Nor is it forgotten by one that is killed as soon as anything of it is written down.
  say_end(next);
  const auto is_written = [&] {
    const auto written = driver_state_from_json(store.json);
    const auto& kept = written->fabrics.at("rome").contracts.begin()->second;
    return kept.ending.contains(next);
  };
  ASSERT_TRUE(comes(is_written));
  kill();
  start();
  ASSERT_TRUE(comes_to(next, "gone")) << step_of(next) << ": " << troubles_of(next);
  EXPECT_EQ(left_of(next), std::vector<std::string>());
}

TEST_F(DriverTest, TheSameOrderAgainChangesNothing) {
  const std::string unit = unit_of(0);
  put(unit);
  EXPECT_EQ(put(unit).status, 202);
  ASSERT_TRUE(comes_to(unit, "ready"));
  live(200);
  const std::string state = store.json;
  const model::Node before = node(*liqos.buyer, unit);
  EXPECT_EQ(put(unit).status, 200);
  live(200);
  EXPECT_EQ(store.json, state);
  EXPECT_EQ(model::text_at(node(*liqos.buyer, unit), {"metadata", "uid"}),
            model::text_at(before, {"metadata", "uid"}));
}

TEST_F(DriverTest, AnotherOrderUnderTheSameNameIsRefusedByField) {
  const std::string unit = unit_of(0);
  put(unit);
  const Told other = put(unit, order_of("rome", "milan", R"(,"labels":{"disk":"hdd"})"));
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(other.text({"thing"}), "labels");
  const Told unlike = put(unit_of(1), order_of("milan", "rome"));
  EXPECT_EQ(unlike.status, 409);
  EXPECT_EQ(unlike.text({"thing"}), "consumer");
}

TEST_F(DriverTest, UnitsOfOneContractMayBeOrderedOneByOne) {
  put(unit_of(0));
  ASSERT_TRUE(comes_to(unit_of(0), "ready"));
  put(unit_of(3));
  put(unit_of(12));
  EXPECT_TRUE(comes_to(unit_of(3), "ready"));
  EXPECT_TRUE(comes_to(unit_of(12), "ready"));
  ask("DELETE", "/v1/units/" + unit_of(3));
  EXPECT_TRUE(comes_to(unit_of(3), "gone"));
  EXPECT_TRUE(is_ready(*liqos.buyer, unit_of(0)));
  EXPECT_TRUE(is_ready(*liqos.buyer, unit_of(12)));
}

TEST_F(DriverTest, AUnitIsDressedByItsOwnOrderWhenOthersOfItsContractHaveGone) {
  put(unit_of(0), order_of("rome", "milan",
                           R"(,"labels":{"disk":"ssd"},"annotations":{"team":"a"},)"
                           R"("taints":[{"key":"spot","effect":"NoSchedule"}])"));
  ASSERT_TRUE(comes_to(unit_of(0), "ready"));
  const std::string other = order_of("rome", "milan", R"(,"labels":{"zone":"b"})");
  ask("DELETE", "/v1/units/" + unit_of(0));
  EXPECT_EQ(put(unit_of(1), other).status, 409);
  ASSERT_TRUE(comes_to(unit_of(0), "gone"));
  ASSERT_EQ(put(unit_of(1), other).status, 202);
  ASSERT_TRUE(comes_to(unit_of(1), "ready"));
  const model::Node made =
      liqos.get(*liqos.buyer, {fabric::liqo::k_virtual_nodes, "liqo-tenant-milan", unit_of(1)});
  EXPECT_EQ(model::text_at(made, {"spec", "labels", "zone"}), "b");
  EXPECT_EQ(model::text_at(made, {"spec", "labels", "disk"}), "");
  EXPECT_EQ(model::text_at(made, {"spec", "annotations", "team"}), "");
  for (const model::Node& taint : model::items_at(made, {"spec", "taints"})) {
    EXPECT_NE(model::text_at(taint, {"key"}), "spot");
  }
}

TEST_F(DriverTest, AUnitThatEndsLeavesNothingAndItsNameIsNeverUsedAgain) {
  const std::string unit = unit_of(0);
  put(unit);
  ASSERT_TRUE(comes_to(unit, "ready"));
  EXPECT_EQ(ask("DELETE", "/v1/units/" + unit).status, 202);
  EXPECT_EQ(ask("DELETE", "/v1/units/" + unit).status, 202);
  ASSERT_TRUE(comes_to(unit, "gone"));
  EXPECT_EQ(left_of(unit), std::vector<std::string>());
  EXPECT_EQ(ask("DELETE", "/v1/units/" + unit).status, 200);
  EXPECT_EQ(put(unit).status, 409);
  loop().run_for(minutes(61));
  EXPECT_EQ(ask("GET", "/v1/units/" + unit).status, 404);
  EXPECT_EQ(put(unit).status, 409);
  const Told over = ask("DELETE", "/v1/units/" + unit);
  EXPECT_EQ(over.status, 410);
  EXPECT_NE(over.text({"next"}), "");
}

TEST_F(DriverTest, ASpareIsBoughtByOrderingItWithoutBeingOne) {
  const std::string unit = unit_of(0);
  put(unit, order_of("rome", "milan", R"(,"spare":true)"));
  ASSERT_TRUE(comes_to(unit, "spare"));
  EXPECT_FALSE(is_ready(*liqos.buyer, unit));
  put(unit);
  ASSERT_TRUE(comes_to(unit, "ready"));
  const Told back = put(unit, order_of("rome", "milan", R"(,"spare":true)"));
  EXPECT_EQ(back.status, 409);
  EXPECT_EQ(back.text({"thing"}), "spare");
}

TEST_F(DriverTest, BothDirectionsLiveApart) {
  const std::string there = unit_of(0, 1);
  const std::string back = unit_of(0, 2);
  put(there, order_of("rome", "milan"));
  put(back, order_of("milan", "rome"));
  ASSERT_TRUE(comes_to(there, "ready")) << model::to_json(ask("GET", "/v1/units/" + there).body);
  ASSERT_TRUE(comes_to(back, "ready")) << model::to_json(ask("GET", "/v1/units/" + back).body);
  const std::string uid(model::text_at(node(*liqos.seller, back), {"metadata", "uid"}));
  ask("DELETE", "/v1/units/" + there);
  ASSERT_TRUE(comes_to(there, "gone"));
  EXPECT_EQ(left_of(there), std::vector<std::string>());
  live(200);
  EXPECT_TRUE(is_ready(*liqos.seller, back));
  EXPECT_EQ(model::text_at(node(*liqos.seller, back), {"metadata", "uid"}), uid);
}

TEST_F(DriverTest, APeeringIsKeptWithoutUnitsAndClosedWhenItIsDeleted) {
  const std::string path = "/v1/peerings/rome/milan";
  EXPECT_EQ(ask("GET", path).status, 404);
  EXPECT_EQ(ask("PUT", path, R"({"version":1})").status, 202);
  ASSERT_TRUE(comes([&] { return is_open(path); })) << model::to_json(ask("GET", path).body);
  EXPECT_EQ(ask("PUT", path, R"({"version":1})").status, 200);
  loop().run_for(minutes(32));  // longer than one that nobody wants stays
  EXPECT_TRUE(is_open(path));
  put(unit_of(0));
  const Told refused = ask("DELETE", path);
  EXPECT_EQ(refused.status, 409);
  EXPECT_NE(refused.text({"reason"}).find(unit_of(0)), std::string::npos);
  ASSERT_TRUE(comes_to(unit_of(0), "ready"));
  ask("DELETE", "/v1/units/" + unit_of(0));
  ASSERT_TRUE(comes_to(unit_of(0), "gone"));
  EXPECT_EQ(ask("DELETE", path).status, 202);
  EXPECT_TRUE(comes([&] { return ask("GET", path).status == 404; }, 4000))
      << model::to_json(ask("GET", path).body);
  EXPECT_TRUE(liqos.list(*liqos.seller, fabric::liqo::k_tenants).empty());
  EXPECT_TRUE(liqos.list(*liqos.buyer, fabric::liqo::k_identities).empty());
}

TEST_F(DriverTest, APeeringThatIsKeptForATimeGoesWhenThatIsOver) {
  const std::string path = "/v1/peerings/rome/milan";
  ask("PUT", path,
      fmt::format(R"({{"version":1,"until":"{}"}})", to_text(loop().now() + minutes(10))));
  ASSERT_TRUE(comes([&] { return is_open(path); }));
  loop().run_for(minutes(45));
  live(400);
  EXPECT_EQ(ask("GET", path).status, 404) << model::to_json(ask("GET", path).body);
}

TEST_F(DriverTest, APeeringIsNotKeptUntilATimeThatIsOver) {
  const Told refused = ask("PUT", "/v1/peerings/rome/milan",
                           fmt::format(R"({{"version":1,"until":"{}"}})", to_text(loop().now())));
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.text({"thing"}), "until");
  EXPECT_NE(refused.text({"next"}), "");
  EXPECT_TRUE(driver->state().peerings.empty());
}

// Before anybody has seen a cluster: nothing but the order says that there is such a peering.
TEST_F(DriverTest, APeeringWhoseTimeIsOverBeforeItIsSavedIsToldAsGone) {
  liqos.ask(*liqos.seller, "DELETE", "/api/v1/namespaces/liqo/configmaps/liqo-clusterid-configmap");
  kill();
  start();
  store.fails = true;
  const auto exchange =
      begin("PUT", "/v1/peerings/rome/milan",
            fmt::format(R"({{"version":1,"until":"{}"}})", to_text(loop().now() + seconds(1))));
  live(80);
  ASSERT_FALSE(exchange->response);
  EXPECT_TRUE(driver->state().peerings.empty());
  store.fails = false;
  ASSERT_TRUE(comes([&] { return exchange->response.has_value(); }));
  EXPECT_EQ(exchange->response->status, 410) << exchange->response->body;
}

}  // namespace
}  // namespace spillway::driver
