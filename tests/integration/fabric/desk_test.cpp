// An agent's own units behind the driver's face: seen, and ended, and never ordered.
#include "integration/fabric/fabric_fixture.h"
#include "services/driver/fabric_desk.h"
#include "support/memory_exchange.h"

namespace spillway::agent {
namespace {

class FabricDeskTest : public FabricTest {
 protected:
  FabricDeskTest() {
    seller.start();
    buyer.start();
    live(4);
    bought.emplace(loop, buyer.agent->dealings());
    bought->attach(*buyer.agent->fabric());
    sold.emplace(loop, seller.agent->dealings());
    sold->attach(*seller.agent->fabric());
  }
  ~FabricDeskTest() override {
    bought.reset();
    sold.reset();
  }

  std::optional<driver::FabricDesk> bought;
  std::optional<driver::FabricDesk> sold;
};

TEST_F(FabricDeskTest, ShowsUnitsWithTheirSteps) {
  const model::Contract contract = trade_units(1);
  const std::string unit = unit_names(contract)[0];
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  live(4);
  const auto shown = bought->unit(unit);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->step, fabric::UnitStep::ready);
  EXPECT_EQ(shown->order.consumer, contract.buyer.text);
  EXPECT_EQ(shown->order.provider, contract.provider.text);
  EXPECT_EQ(shown->order.resources, contract.shape);
  EXPECT_EQ(shown->steps.back().step, fabric::UnitStep::ready);
  EXPECT_GE(shown->steps.size(), 3U);
  const auto peering = bought->peering(contract.buyer.text, contract.provider.text);
  ASSERT_TRUE(peering);
  EXPECT_TRUE(peering->open);
  EXPECT_EQ(peering->units, std::vector<std::string>{unit});
  EXPECT_EQ(sold->unit(unit)->step, fabric::UnitStep::granted);
}

TEST_F(FabricDeskTest, TakesNoOrdersAndSaysWhatToDoInstead) {
  std::optional<Error> why;
  bought->order("sw-x", {}, {},
                [&](const Result<driver::UnitDocument>& told) { why = told.error(); });
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code, Code::conflict);
  EXPECT_NE(why->next.find("spillway hold"), std::string::npos);
}

TEST_F(FabricDeskTest, EndsWhatWasBoughtAndNothingElse) {
  const model::Contract contract = trade_units(2);
  const std::string unit = unit_names(contract)[0];
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  std::optional<Error> refused;
  sold->end(unit, [&](const Result<driver::UnitDocument>& told) { refused = told.error(); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, Code::conflict);
  bool is_told = false;
  bought->end(unit, [&](const Result<driver::UnitDocument>& told) {
    is_told = told.has_value() && told->ending.has_value();
  });
  EXPECT_TRUE(is_told);
  EXPECT_TRUE(buyer.kept(contract.id)->ending.contains(unit));
  ASSERT_TRUE(comes([&] { return !liqo.rome.has(slice_path(liqo.rome, unit)); }));
  EXPECT_TRUE(is_ready(unit_names(contract)[1]));
  tell_both(closed(contract), "contract-closed");
  EXPECT_TRUE(comes([&] { return bought->units({}).empty(); }));
  refused.reset();
  bought->end(unit, [&](const Result<driver::UnitDocument>& told) { refused = told.error(); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, Code::not_found);
  EXPECT_NE(refused->next, "");
}

// Its contract is paid on, and nothing comes back of itself.
TEST_F(FabricDeskTest, WhatHasEndedAndIsNotReleasedIsToldOnce) {
  const model::Contract contract = trade_units(2);
  const std::string unit = unit_names(contract)[0];
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  bought->end(unit, [](const Result<driver::UnitDocument>&) {});
  ASSERT_TRUE(comes([&] { return !liqo.rome.has(slice_path(liqo.rome, unit)); }));
  const std::string what = "contracts release " + contract.id.text + " --unit 0";
  loop.run_for(minutes(1));
  live(20);
  EXPECT_EQ(events(liqo.rome, what), 0) << "whoever ended it may be about to release it";
  loop.run_for(minutes(1));
  EXPECT_TRUE(comes([&] { return events(liqo.rome, what) == 1; }));
  EXPECT_EQ(bought->unit(unit)->step, fabric::UnitStep::gone);
  ASSERT_EQ(bought->unit(unit)->troubles.size(), 1U);
  EXPECT_EQ(bought->unit(unit)->troubles[0].thing, "unit " + unit);
  EXPECT_TRUE(bought->unit(unit_names(contract)[1])->troubles.empty());
  loop.run_for(minutes(20));
  live(20);
  EXPECT_EQ(events(liqo.rome, what), 1);
  model::Contract released = contract;
  released.units[0].live = false;
  released.units[0].ended = loop.now();
  tell_both(released, "contract-released");
  EXPECT_TRUE(comes([&] {
    return bought->peering(contract.buyer.text, contract.provider.text)->troubles.empty();
  }));
}

TEST_F(FabricDeskTest, APeeringThatIsOverIsNotShownAnyMore) {
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  ASSERT_EQ(bought->peerings({}).size(), 1U);
  ASSERT_EQ(sold->peerings({}).size(), 1U);
  tell_both(closed(contract), "contract-closed");
  ASSERT_TRUE(comes([&] { return bought->units({}).empty() && sold->units({}).empty(); }));
  EXPECT_EQ(bought->peerings({}).size(), 1U);  // it is kept warm
  loop.run_for(FabricOptions{}.warm);
  EXPECT_TRUE(comes([&] { return bought->peerings({}).empty() && sold->peerings({}).empty(); }));
}

TEST_F(FabricDeskTest, TellsTroublesOnceAndAgainWhenTheyAreMended) {
  const model::Contract contract = trade_units(1);
  const std::string unit = unit_names(contract)[0];
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  live(4);
  std::vector<driver::EventKind> told;
  const auto stream = std::make_shared<test::MemoryStream>();
  bought->events().follow({"test",
                           [&](const driver::Event& event) {
                             if (event.trouble) told.push_back(event.kind);
                             return false;
                           },
                           k_last_instant},
                          stream, bought->events().last());
  liqo.rome.merge(test::Place::path(fabric::liqo::k_virtual_nodes, "liqo-tenant-milan", unit),
                  R"({"spec":{"labels":{"disk":"none"}}})");
  ASSERT_TRUE(comes([&] { return told.size() >= 2; }));
  live(20);
  EXPECT_EQ(told, (std::vector{driver::EventKind::trouble, driver::EventKind::mended}));
}

}  // namespace
}  // namespace spillway::agent
