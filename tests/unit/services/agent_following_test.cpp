#include "unit/services/agent_fixture.h"

namespace spillway::agent {
namespace {

using test::lost;

using AgentFollowing = AgentTest;

const Error k_broken{Code::unavailable, "broker", "the connection broke", ""};

TEST_F(AgentFollowing, OversoldGivesNoticeToTheYoungestUntilTheRestFits) {
  // The pool holds 12 units; 5 + 4 + 3 are sold, then it shrinks to 8.
  const std::vector<model::Contract> all{sold(1, 5), sold(2, 4), sold(3, 3)};
  for (const auto& contract : all) broker.contracts[contract.id.text] = contract;
  start();
  loop.run_for(seconds(1));
  Supply supply = plain_supply();
  supply.pools[0].capacity = test::plain_shape().times(8);
  agent->set_supply(supply);
  broker.tell("pool-oversold", "edge-1/standard", PoolId("edge-1/standard"), ClusterId("edge-1"));
  loop.run_for(minutes(3));
  EXPECT_EQ(broker.noticed, (std::vector<std::string>{all[2].id.text, all[1].id.text}));
  EXPECT_EQ(broker.channel.count("POST /v1/contracts"), 2) << "each once";
  EXPECT_EQ(carried().size(), 3U) << "they are here until they have left";
}

TEST_F(AgentFollowing, NoticeIsRepeatedUntilItIsHeardAndSurvivesACrash) {
  const model::Contract contract = sold(1, 5);
  broker.contracts[contract.id.text] = contract;
  start();
  loop.run_for(seconds(1));
  broker.first = saying("POST", [] { return Result<net::Response>(lost()); });
  Supply supply = plain_supply();
  supply.pools[0].capacity = test::plain_shape();
  agent->set_supply(supply);
  broker.tell("pool-oversold", "edge-1/standard", PoolId("edge-1/standard"), ClusterId("edge-1"));
  loop.run_for(seconds(20));
  kill();
  broker.first = no_opinion();
  start(supply);
  loop.run_for(seconds(1));
  EXPECT_EQ(broker.noticed, std::vector<std::string>{contract.id.text});
}

TEST_F(AgentFollowing, ComesBackWithGrowingWaitsAndFromWhereItWas) {
  start();
  loop.run_for(seconds(11));
  broker.first = saying("GET /v1/events", [] { return Result<net::Response>(lost()); });
  const int64_t before = broker.channel.count("GET /v1/events");
  broker.channel.end(k_broken);
  loop.run_for(seconds(1));
  const int64_t soon = broker.channel.count("GET /v1/events") - before;
  EXPECT_GE(soon, 1);
  EXPECT_LE(soon, 8);
  EXPECT_FALSE(agent->status().connected);
  loop.run_for(minutes(10));
  const int64_t later = broker.channel.count("GET /v1/events") - before;
  EXPECT_GE(later, 20);
  EXPECT_LE(later, 120) << "at most 30 s apart, and about 15 on average";
  EXPECT_EQ(log.count("events have ended"), 1);
  const model::Contract contract = sold(1);
  broker.tell_of(contract, "contract-confirmed");
  broker.first = no_opinion();
  loop.run_for(seconds(35));
  EXPECT_TRUE(agent->status().connected);
  EXPECT_EQ(agent->status().contracts_sold, 1) << "what was missed is heard";
  EXPECT_EQ(carried().size(), 1U);
}

TEST_F(AgentFollowing, WhoIsDeniedWaitsLongerUntilThereAreOtherCredentials) {
  broker.first = saying("GET", [] {
    return Result<net::Response>(fail(Code::denied, "broker", "your certificate has expired"));
  });
  start();
  loop.run_for(minutes(5));
  EXPECT_LE(broker.channel.count("GET"), 11);
  broker.first = no_opinion();
  agent->credentials_changed();
  loop.run_for(seconds(1));
  EXPECT_TRUE(agent->status().connected);
}

TEST_F(AgentFollowing, TakesOverTheSnapshotWhenTheLogHasForgotten) {
  const model::Contract ended = sold(1);
  const model::Contract stays = sold(2);
  broker.contracts[ended.id.text] = ended;
  broker.contracts[stays.id.text] = stays;
  start();
  loop.run_for(seconds(1));
  ASSERT_EQ(carried().size(), 2U);
  kill();
  model::Contract closed = ended;
  closed.state = model::ContractState::closed;
  closed.reason = model::EndReason::released;
  closed.units[0].live = false;
  closed.units[0].ended = loop.now();
  broker.contracts[ended.id.text] = closed;
  const model::Contract fresh = sold(3);
  broker.contracts[fresh.id.text] = fresh;
  broker.events = 500;
  broker.forgotten = 490;
  start();
  loop.run_for(seconds(2));
  EXPECT_EQ(carried(), (std::vector<std::string>{stays.id.text, fresh.id.text}));
  EXPECT_EQ(agent->status().last_event, 500);
  EXPECT_TRUE(agent->status().connected);
}

TEST_F(AgentFollowing, CarriesOnWhatARestoredBrokerHasNeverHeardOf) {
  const model::Contract contract = sold(1);
  broker.contracts[contract.id.text] = contract;
  start();
  loop.run_for(seconds(11));
  broker.contracts.clear();
  broker.pools.clear();
  broker.offers.clear();
  broker.events = 20;
  broker.epoch = 3;
  broker.channel.end(k_broken);
  loop.run_for(seconds(5));
  EXPECT_EQ(carried(), std::vector<std::string>{contract.id.text});
  EXPECT_EQ(pool().epoch, 3);
  EXPECT_EQ(broker.offers.size(), 1U);
  EXPECT_GE(log.count("does not know a contract"), 1);
  loop.run_for(hours(2));
  EXPECT_TRUE(carried().empty()) << "its lease, grace and drain are over";
}

TEST_F(AgentFollowing, RenewsWhatWasBoughtAtHalfItsLease) {
  const model::Contract contract = bought(1);
  broker.contracts[contract.id.text] = contract;
  start(Supply{});
  loop.run_for(minutes(23));
  EXPECT_TRUE(broker.renewed.empty());
  loop.run_for(minutes(8));
  EXPECT_EQ(broker.renewed.size(), 1U);
  loop.run_for(hours(24));
  EXPECT_GE(broker.renewed.size(), 48U);
  EXPECT_LE(broker.renewed.size(), 64U);
  EXPECT_EQ(agent->status().contracts_bought, 1);
}

TEST_F(AgentFollowing, ARenewalIsTriedUntilItIsHeard) {
  const model::Contract contract = bought(1);
  broker.contracts[contract.id.text] = contract;
  broker.first = saying("POST", [] { return Result<net::Response>(lost()); });
  start(Supply{});
  loop.run_for(minutes(59));
  EXPECT_TRUE(broker.renewed.empty());
  broker.first = no_opinion();
  loop.run_for(seconds(31));
  EXPECT_EQ(broker.renewed.size(), 1U);
}

// An answer to something else, written before the renewal and heard after it.
TEST_F(AgentFollowing, AnAnswerThatWasOvertakenShortensNoLease) {
  const model::Contract contract = sold(1, 5);
  broker.contracts[contract.id.text] = contract;
  start();
  loop.run_for(seconds(1));
  model::Contract renewed = contract;
  renewed.deadline = contract.deadline + hours(1);
  broker.tell_of(renewed, "contract-renewed");
  loop.run_for(seconds(1));
  const auto known = [&] { return agent->state().contracts.at(contract.id).deadline; };
  ASSERT_EQ(known(), renewed.deadline);
  broker.first = saying("POST /v1/contracts",
                        [&] { return test::ScriptedBroker::ok(wire::ContractAnswer{contract}); });
  Supply supply = plain_supply();
  supply.pools[0].capacity = test::plain_shape();
  agent->set_supply(supply);
  broker.tell("pool-oversold", "edge-1/standard", PoolId("edge-1/standard"), ClusterId("edge-1"));
  loop.run_for(seconds(20));
  EXPECT_GE(broker.channel.count("POST /v1/contracts"), 1);
  EXPECT_EQ(known(), renewed.deadline);
  // A broker that has gone back to a copy says so again when it is asked.
  broker.tell_of(contract, "contract-moved");
  loop.run_for(seconds(1));
  EXPECT_EQ(known(), contract.deadline);
}

TEST_F(AgentFollowing, LetsLapseWhatItIsToldTo) {
  options.renew = false;
  const model::Contract contract = bought(1);
  broker.contracts[contract.id.text] = contract;
  start(Supply{});
  loop.run_for(minutes(50));
  EXPECT_TRUE(broker.renewed.empty());
}

TEST_F(AgentFollowing, AnEventWhoseContractWasNotSeenYetIsHeardAgainAfterACrash) {
  start();
  loop.run_for(seconds(1));
  broker.first = saying("GET /v1/contracts", [] { return Result<net::Response>(lost()); });
  const model::Contract contract = sold(1);
  broker.tell_of(contract, "contract-confirmed");
  broker.tell("pool-published", "edge-1/standard", PoolId("edge-1/standard"), ClusterId("edge-1"));
  loop.run_for(seconds(5));
  kill();
  broker.first = no_opinion();
  start();
  loop.run_for(seconds(1));
  EXPECT_EQ(carried(), std::vector<std::string>{contract.id.text});
}

// Whatever a save was for: whoever dies right before or after it ends up at the same place.
TEST_F(AgentFollowing, ACrashAtAnySaveLosesNothing) {
  int points = 0;
  for (int point = 1; point <= 40; ++point) {
    for (const bool before : {true, false}) {
      store = MemoryState{};
      broker.pools.clear();
      broker.offers.clear();
      broker.contracts.clear();
      broker.withdrawn.clear();
      broker.noticed.clear();
      broker.last_report = 0;
      (before ? store.crash_before : store.crash_after) = point;
      Supply supply = plain_supply();
      const std::vector<model::Contract> all{sold(1, 5), sold(2, 4)};
      const auto live = [&](Duration time) {
        for (int64_t i = 0; i < time.ms / 100; ++i) {
          loop.run_for(milliseconds(100));
          if (!std::exchange(store.crashed, false)) continue;
          store.crash_before = store.crash_after = 0;
          ++points;
          start(supply);
        }
      };
      start(supply);
      live(seconds(2));
      for (const auto& contract : all) {
        broker.tell_of(contract, "contract-confirmed");
        live(milliseconds(500));  // a save of its own
      }
      supply.pools[0].capacity = test::plain_shape().times(5);
      supply.offers[0].price.unit_hour += 1;
      agent->set_supply(supply);
      live(milliseconds(500));
      broker.tell("pool-oversold", "edge-1/standard", PoolId("edge-1/standard"),
                  ClusterId("edge-1"));
      live(milliseconds(500));
      broker.epoch += 1;
      broker.tell("epoch-begun", "epoch");
      live(seconds(50));
      SCOPED_TRACE(fmt::format("crash {} save {}", before ? "before" : "after", point));
      EXPECT_EQ(pool().pool, supply.pools[0]);
      EXPECT_EQ(pool().epoch, broker.epoch);
      EXPECT_EQ(carried().size(), 2U);
      EXPECT_EQ(broker.offers.at("edge-1/small").offer, supply.offers[0]);
      EXPECT_EQ(broker.noticed, std::vector<std::string>{all[1].id.text});
      kill();
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(points, 10) << "it really crashed";
}

TEST_F(AgentFollowing, StoppingSavesAndWithdrawsNothing) {
  start();
  loop.run_for(seconds(1));
  const model::Contract contract = sold(1);
  broker.tell_of(contract, "contract-confirmed");
  loop.run();
  bool done = false;
  agent->stop([&done] { done = true; });
  loop.run_for(seconds(1));
  EXPECT_TRUE(done);
  EXPECT_FALSE(broker.channel.has_stream());
  EXPECT_TRUE(broker.withdrawn.empty());
  const auto state = state_from_json(store.json);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->last_event, broker.events - (state->contracts.empty() ? 1 : 0));
}

}  // namespace
}  // namespace spillway::agent
