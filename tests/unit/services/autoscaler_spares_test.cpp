// Spares: kept as the policy says, bought before anything else, given back when nobody needs them.
#include "autoscaler_fixture.h"

namespace spillway::autoscaler {
namespace {

class AutoscalerSpares : public AutoscalerTest {
 protected:
  AutoscalerSpares() {
    home.policy.spares.units = 2;
    nodes.others = 0;
  }
  int32_t spares() const { return service->ledger().find(small)->spares(); }
  // Long enough for one look at spares, and what follows from it.
  void settle() { loop.run_for(SpareKeeper::k_calm + seconds(5)); }
};

TEST_F(AutoscalerSpares, AreKeptAtNoCostAndAreNoNodesOfTheGroup) {
  start();
  settle();
  EXPECT_EQ(spares(), 2);
  EXPECT_TRUE(contract().spare);
  EXPECT_EQ(contract().state, model::ContractState::active);
  EXPECT_EQ(target(), 0);
  EXPECT_EQ(states(), States{});
  EXPECT_EQ(service->status().spares, 2);
  EXPECT_EQ(service->status().rate, 0);
  settle();
  EXPECT_EQ(broker.channel.count("POST /v1/holds"), 1) << "once";
}

TEST_F(AutoscalerSpares, AreNotKeptByABackEndThatHasNone) {
  nodes.others.reset();
  start();
  settle();
  EXPECT_EQ(spares(), 0);
  EXPECT_EQ(broker.channel.count("POST /v1/holds"), 0);
}

TEST_F(AutoscalerSpares, AreBoughtFirstUnderTheirOwnNames) {
  start();
  settle();
  const ContractId id = contract().id;
  ASSERT_TRUE(increase(3));
  EXPECT_EQ(broker.channel.count("POST /v1/contracts/" + id.text + "/buy"), 1);
  EXPECT_EQ(contract().bought_units(), 2);
  EXPECT_EQ(target(), 3);
  EXPECT_TRUE(nodes.nodes.contains(unit_name(id, 0)));
  EXPECT_GT(service->status().rate, 0);
  settle();
  EXPECT_EQ(spares(), 2) << "others take their place";
}

TEST_F(AutoscalerSpares, OneThatThePoolHasNoRoomForStaysASpare) {
  start();
  settle();
  broker.free_units[small.text] = 1;  // by the time that it is bought
  EXPECT_EQ(increase(2).error().code, Code::taken);
  EXPECT_EQ(target(), 0);
  EXPECT_EQ(spares(), 2);
}

TEST_F(AutoscalerSpares, WhatIsNoLongerSoldAtThatPriceIsGivenBack) {
  start();
  settle();
  const ContractId id = contract().id;
  broker.first = agent::saying("POST /v1/contracts/" + id.text + "/buy", [] {
    return test::ScriptedBroker::refusal(Code::gone, "contract", "another price by now");
  });
  EXPECT_EQ(increase(1).error().code, Code::gone);
  EXPECT_EQ(target(), 0);
  loop.run_for(seconds(5));
  EXPECT_FALSE(broker.contracts.at(id.text).units[0].live);
}

TEST_F(AutoscalerSpares, MakeRoomWhenOtherNodesAreNotReady) {
  start();
  settle();
  nodes.others = 2;
  nodes.tell();
  loop.run_for(seconds(5));
  EXPECT_EQ(spares(), 1) << "three in all";
  nodes.others = 9;
  nodes.tell();
  loop.run_for(seconds(5));
  EXPECT_EQ(spares(), 0);
  EXPECT_EQ(sold(), 0) << "given back to the broker";
}

TEST_F(AutoscalerSpares, MakeRoomForVirtualNodesThatAreNotOfTheLedger) {
  home.policy.spares.units = 3;
  start();
  settle();
  ASSERT_EQ(spares(), 3);
  for (int32_t unit = 0; unit < 3; ++unit) nodes.unready.insert(unit_name(contract().id, unit));
  nodes.tell();
  loop.run_for(seconds(5));
  EXPECT_EQ(spares(), 3) << "those are the spares themselves";
  nodes.unready.insert({"sw-held-by-hand-0", "sw-held-by-hand-1"});
  nodes.tell();
  loop.run_for(seconds(5));
  EXPECT_EQ(spares(), 1) << "three in all";
}

TEST_F(AutoscalerSpares, AreGivenBackWhenNothingWasBoughtForLong) {
  start();
  settle();
  loop.run_for(home.policy.spares.idle + seconds(5));
  EXPECT_EQ(spares(), 0);
  ASSERT_TRUE(increase(1));
  settle();
  EXPECT_EQ(spares(), 2) << "and kept again once something is";
}

TEST_F(AutoscalerSpares, SurviveAKill) {
  start();
  settle();
  const ContractId id = contract().id;
  kill();
  start();
  settle();
  EXPECT_EQ(spares(), 2);
  EXPECT_EQ(broker.channel.count("POST /v1/holds"), 1);
  ASSERT_TRUE(increase(1));
  EXPECT_EQ(contract().id, id);
  EXPECT_EQ(contract().bought_units(), 1);
}

}  // namespace
}  // namespace spillway::autoscaler
