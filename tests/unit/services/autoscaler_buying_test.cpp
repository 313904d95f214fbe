#include "autoscaler_fixture.h"

namespace spillway::autoscaler {
namespace {

TEST_F(AutoscalerTest, HoldsConfirmsAndAnswersWhenItIsSaved) {
  start();
  ASSERT_TRUE(increase(2));
  EXPECT_EQ(target(), 2);
  EXPECT_EQ(sold(), 2);
  EXPECT_EQ(contract().state, model::ContractState::active);
  EXPECT_NE(store.json.find(contract().id.text), std::string::npos);
}

TEST_F(AutoscalerTest, AsksTheBrokerForNothingThatIsNotSaved) {
  start();
  store.fails = true;
  const Outcome outcome = ask(1);
  loop.run_for(seconds(3));
  EXPECT_EQ(broker.channel.count("POST /v1/holds"), 0);
  loop.run_for(seconds(1));
  ASSERT_TRUE(outcome->has_value());
  EXPECT_EQ((*outcome)->error().code, Code::unavailable);
  EXPECT_EQ(target(), 1);  // it may still come
  store.fails = false;
  loop.run_for(seconds(60));
  EXPECT_EQ(sold(), 1);
  EXPECT_EQ(target(), 1);
}

TEST_F(AutoscalerTest, KeepsWhatWasGrantedOfAShortfallAndSaysSo) {
  start();
  broker.free_units[small.text] = 2;
  const Status status = increase(5);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::taken);
  EXPECT_EQ(target(), 2);
  EXPECT_EQ(sold(), 2);
}

TEST_F(AutoscalerTest, TellsInsideTheCallWhatWasRefused) {
  start();
  broker.free_units[small.text] = 0;
  EXPECT_EQ(increase(1).error().code, Code::taken);
  EXPECT_EQ(target(), 0);
  broker.first = agent::saying("POST /v1/holds", [] {
    return test::ScriptedBroker::refusal(Code::over_budget, "home", "nothing is left");
  });
  EXPECT_EQ(increase(1).error().code, Code::over_budget);
  EXPECT_EQ(target(), 0);
}

TEST_F(AutoscalerTest, TriesAgainInsideTheCallWhenAnAnswerIsLost) {
  start();
  int left = 1;
  broker.loses = [&left](const net::Request& request) {
    return request.target == "/v1/holds" && left-- > 0;
  };
  ASSERT_TRUE(increase(2));
  EXPECT_EQ(target(), 2);
  EXPECT_EQ(sold(), 2);  // not four
}

TEST_F(AutoscalerTest, CountsWhatIsNotKnownAndAnswersInTime) {
  start();
  broker.loses = [](const net::Request& request) { return request.target == "/v1/holds"; };
  const Outcome outcome = ask(2);
  loop.run_for(Autoscaler::k_answer_within);
  ASSERT_TRUE(outcome->has_value());
  EXPECT_EQ((*outcome)->error().code, Code::unavailable);
  EXPECT_EQ(target(), 2);
  EXPECT_EQ(states(), (States{UnitState::creating, UnitState::creating}));
  broker.loses = [](const net::Request&) { return false; };
  loop.run_for(seconds(60));
  EXPECT_EQ(target(), 2);
  EXPECT_EQ(sold(), 2);
  EXPECT_EQ(states(), (States{UnitState::running, UnitState::running}));
}

TEST_F(AutoscalerTest, GoesOnUnderTheSameKeyWhereverItIsKilled) {
  for (const std::string lost : {"/v1/holds", "/confirm"}) {
    broker.loses = [lost](const net::Request& request) { return request.target.ends_with(lost); };
    start();
    ask(2);
    loop.run_for(milliseconds(50));
    kill();
    broker.loses = [](const net::Request&) { return false; };
    start();
    loop.run_for(seconds(5));
    EXPECT_EQ(sold(), 2) << lost;
    EXPECT_EQ(target(), 2) << lost;
    EXPECT_EQ(nodes.nodes.size(), 2u) << lost;
    ASSERT_TRUE(remove(refs()));
    EXPECT_EQ(sold(), 0) << lost;
  }
}

TEST_F(AutoscalerTest, LosesAndDoublesNothingWhicheverSaveIsTheLast) {
  for (int last = 1; last <= 6; ++last) {
    for (const bool is_written : {false, true}) {
      store = {};
      broker.holds.clear();
      broker.contracts.clear();
      broker.free_units.clear();
      nodes.nodes.clear();
      (is_written ? store.crash_after : store.crash_before) = last;
      start();
      ask(2);
      loop.run_for(seconds(2));
      store.crashed = false;
      store.crash_after = store.crash_before = 0;
      start();
      loop.run_for(minutes(5));  // also past what a hold lives
      const int32_t held = service->ledger().find(small)->target();
      EXPECT_TRUE(held == 0 || held == 2) << last;
      EXPECT_EQ(sold(), held) << last << is_written;
      EXPECT_EQ(nodes.nodes.size(), static_cast<size_t>(held)) << last;
    }
  }
}

TEST_F(AutoscalerTest, GivesBackWhatWasCancelledBeforeItWasKnown) {
  start();
  broker.loses = [](const net::Request& request) { return request.target == "/v1/holds"; };
  ask(2);
  loop.run_for(seconds(4));
  ASSERT_TRUE(remove(refs()));
  EXPECT_EQ(target(), 0);
  broker.loses = [](const net::Request&) { return false; };
  loop.run_for(seconds(60));
  EXPECT_EQ(sold(), 0);
  EXPECT_EQ(broker.channel.count("POST /v1/contracts/" + contract().id.text + "/confirm"), 0);
}

TEST_F(AutoscalerTest, RefusesNonsenseAndChangesNothing) {
  start();
  EXPECT_EQ(increase(0).error().code, Code::invalid);
  EXPECT_EQ(increase(-3).error().code, Code::invalid);
  EXPECT_EQ(increase(1'000'000).error().code, Code::taken);
  EXPECT_EQ(remove({{"aws:///i-1", "node-1"}}).error().code, Code::invalid);
  EXPECT_EQ(target(), 0);
  EXPECT_EQ(broker.channel.count("POST /v1/holds"), 0);
}

TEST_F(AutoscalerTest, WillNotStartOnTheStateOfAnotherCluster) {
  store.json = R"({"version":1,"cluster":"other","generation":1,"groups":{}})";
  Autoscaler other(loop, random, broker.channel, store, nodes, log, {ClusterId("home")});
  EXPECT_EQ(other.start().error().code, Code::conflict);
}

}  // namespace
}  // namespace spillway::autoscaler
