#include "unit/services/agent_fixture.h"

namespace spillway::agent {
namespace {

using test::lost;
using test::ScriptedBroker;
using ::testing::Test;

using AgentSelling = AgentTest;

TEST_F(AgentSelling, PublishesPoolAndOfferAfterTheSnapshot) {
  start();
  loop.run_for(seconds(1));
  EXPECT_EQ(pool().pool, test::plain_pool());
  EXPECT_EQ(pool().epoch, 7);
  EXPECT_EQ(pool().lease, minutes(2));
  EXPECT_EQ(broker.offers.at("edge-1/small").offer, test::plain_offer());
  EXPECT_EQ(broker.channel.asked.at(0).request.target, "/v1/snapshot");
  EXPECT_EQ(broker.channel.count("PUT /v1/pools"), 1) << "the snapshot told the epoch";
  const AgentStatus status = agent->status();
  EXPECT_TRUE(status.connected);
  EXPECT_EQ(status.pools_published, 1);
  EXPECT_EQ(status.offers_published, 1);
  EXPECT_EQ(status.last_event, 100);
}

TEST_F(AgentSelling, RenewsTheLeaseOfAPoolInTime) {
  start();
  Instant last = loop.now();
  int64_t seen = 0;
  for (int i = 0; i < 600; ++i) {
    loop.run_for(seconds(1));
    if (pool().report == seen) continue;
    EXPECT_LE(loop.now() - last, seconds(42));
    last = loop.now();
    seen = pool().report;
  }
  EXPECT_GE(broker.channel.count("PUT /v1/pools"), 15);
  EXPECT_LE(broker.channel.count("PUT /v1/pools"), 22);
  EXPECT_EQ(pool().sequence, 1) << "the same content has the same number";
}

TEST_F(AgentSelling, ConfirmsWhatItCarriesInAnotherEpoch) {
  const model::Contract contract = sold(1, 3);
  broker.contracts[contract.id.text] = contract;
  start();
  loop.run_for(seconds(1));
  EXPECT_EQ(carried(), std::vector<std::string>{contract.id.text});
  EXPECT_EQ(pool().carries.at(0).units, 3);
  EXPECT_EQ(pool().carries.at(0).shape, contract.shape);
  broker.epoch = 8;  // an answer tells of it
  loop.run_for(seconds(45));
  EXPECT_EQ(pool().epoch, 8);
  EXPECT_EQ(carried(), std::vector<std::string>{contract.id.text});
  broker.epoch = 9;  // an event does
  broker.tell("epoch-begun", "epoch");
  loop.run_for(milliseconds(100));
  EXPECT_EQ(pool().epoch, 9);
  EXPECT_EQ(carried(), std::vector<std::string>{contract.id.text});
}

TEST_F(AgentSelling, CarriesOnlyWhatHasBegun) {
  start();
  loop.run_for(seconds(1));
  model::Contract contract = sold(1);
  contract.state = model::ContractState::hold;
  contract.started.reset();
  broker.tell_of(contract, "contract-held");
  loop.run_for(seconds(1));
  EXPECT_TRUE(carried().empty()) << "nothing runs on a hold";
  contract.state = model::ContractState::active;
  contract.started = contract.created;
  broker.tell_of(contract, "contract-confirmed");
  loop.run_for(milliseconds(300));
  EXPECT_EQ(carried().size(), 1U);
  contract.state = model::ContractState::closing;
  broker.tell_of(contract, "contract-closing");
  loop.run_for(seconds(1));
  EXPECT_EQ(carried().size(), 1U) << "its guests have time to leave";
  broker.tell("contract-closed", contract.id.text, contract.pool, contract.provider);
  loop.run_for(seconds(1));
  EXPECT_TRUE(carried().empty());
  EXPECT_EQ(agent->status().contracts_sold, 0);
}

TEST_F(AgentSelling, AsksAgainWhenAnswersAreLost) {
  int tries = 0;
  broker.first = [&](const net::Request& request) -> std::optional<Result<net::Response>> {
    const bool publishes = request.method == "PUT";
    if (publishes && ++tries <= 6) return Result<net::Response>(lost());
    return net::Response{0, {}, {}};
  };
  start();
  loop.run_for(minutes(1));
  EXPECT_EQ(broker.pools.size(), 1U);
  EXPECT_EQ(broker.offers.size(), 1U);
  EXPECT_EQ(pool().sequence, 1);
  EXPECT_EQ(log.count("not published"), 0) << "a broker that is away is no refusal";
}

TEST_F(AgentSelling, ARefusedOfferStopsNoOther) {
  Supply supply = plain_supply();
  model::Offer other = test::plain_offer();
  other.id = OfferId("edge-1/other");
  supply.offers.push_back(other);
  broker.first = saying("PUT /v1/offers/edge-1/small", [] {
    return ScriptedBroker::refusal(Code::invalid, "offer edge-1/small", "too cheap");
  });
  start(supply);
  loop.run_for(minutes(5));
  EXPECT_TRUE(broker.offers.contains("edge-1/other"));
  EXPECT_FALSE(broker.offers.contains("edge-1/small"));
  EXPECT_EQ(log.count("too cheap"), 1) << "told once, tried again slowly";
  EXPECT_LE(broker.channel.count("PUT /v1/offers/edge-1/small"), 12);
  broker.first = no_opinion();
  loop.run_for(seconds(61));
  EXPECT_TRUE(broker.offers.contains("edge-1/small"));
}

TEST_F(AgentSelling, AnEditIsPublishedByItsDifference) {
  Supply supply = plain_supply();
  supply.pools.push_back(test::plain_pool());
  supply.pools[1].id = PoolId("edge-1/old");
  supply.offers.push_back(test::plain_offer());
  supply.offers[1].id = OfferId("edge-1/old-offer");
  supply.offers[1].pool = PoolId("edge-1/old");
  start(supply);
  loop.run_for(seconds(1));
  ASSERT_EQ(broker.offers.size(), 2U);
  const int64_t before = broker.channel.count("PUT /v1/pools/edge-1/standard");
  supply.pools.pop_back();
  supply.offers.pop_back();
  supply.offers[0].price.unit_hour += 5;
  agent->set_supply(supply);
  loop.run_for(seconds(1));
  EXPECT_EQ(broker.withdrawn.at("edge-1/old"), 2) << "after its offer: the broker checks that";
  EXPECT_EQ(broker.withdrawn.at("edge-1/old-offer"), 2);
  EXPECT_EQ(broker.offers.at("edge-1/small").sequence, 2);
  EXPECT_EQ(broker.offers.at("edge-1/small").offer, supply.offers[0]);
  EXPECT_EQ(broker.channel.count("PUT /v1/pools/edge-1/standard"), before);
  // And back again, above all numbers that were used.
  agent->set_supply(plain_supply());
  loop.run_for(seconds(1));
  EXPECT_EQ(broker.offers.at("edge-1/small").sequence, 3);
}

TEST_F(AgentSelling, AShapeThatChangesUnderItsIdIsRefusedAndTheRestGoesOn) {
  start();
  loop.run_for(seconds(1));
  Supply supply = plain_supply();
  supply.offers[0].shape.cpu_millis = 1000;
  supply.offers.push_back(supply.offers[0]);
  supply.offers[1].id = OfferId("edge-1/smaller");
  agent->set_supply(supply);
  loop.run_for(minutes(2));
  EXPECT_EQ(broker.offers.at("edge-1/small").offer.shape, test::plain_shape());
  EXPECT_TRUE(broker.offers.contains("edge-1/smaller"));
  EXPECT_EQ(log.count("cannot change under the same id"), 1);
  EXPECT_LE(broker.channel.count("PUT /v1/offers/edge-1/small "), 8);
}

TEST_F(AgentSelling, NumbersThatFellBehindAreCaughtUp) {
  start();
  loop.run_for(seconds(1));
  kill();
  store.json.clear();  // as --forget-state does
  pool().sequence = 40;
  pool().pool.capacity = test::plain_shape();
  pool().report = broker.last_report = 5000;
  broker.offers.at("edge-1/small").sequence = 41;
  broker.offers.at("edge-1/small").offer.price.unit_hour += 1;
  start();
  loop.run_for(seconds(5));
  EXPECT_EQ(pool().sequence, 41);
  EXPECT_EQ(pool().pool, test::plain_pool());
  EXPECT_EQ(broker.offers.at("edge-1/small").sequence, 42);
}

TEST_F(AgentSelling, StaleNumbersAreTakenFromTheBrokerWhileItRuns) {
  start();
  loop.run_for(seconds(1));
  pool().sequence = 40;  // somebody else's agent, perhaps
  broker.offers.at("edge-1/small").sequence = 41;
  Supply supply = plain_supply();
  supply.pools[0].capacity = test::plain_shape().times(20);
  supply.offers[0].price.unit_hour += 1;
  agent->set_supply(supply);
  loop.run_for(seconds(5));
  EXPECT_EQ(pool().sequence, 41);
  EXPECT_EQ(pool().pool, supply.pools[0]);
  EXPECT_EQ(broker.offers.at("edge-1/small").sequence, 42);
  EXPECT_EQ(broker.offers.at("edge-1/small").offer, supply.offers[0]);
}

TEST_F(AgentSelling, APoolThatWasWithdrawnBeforeWeForgotItComesBack) {
  broker.withdrawn["edge-1/standard"] = 5000;  // in no snapshot
  start();
  loop.run_for(minutes(2));
  EXPECT_TRUE(broker.pools.contains("edge-1/standard"));
}

TEST_F(AgentSelling, ReportNumbersAreNeverUsedTwice) {
  for (int life = 0; life < 5; ++life) {
    start();
    loop.run_for(minutes(1 + life));
    kill();  // ScriptedBroker looks at each number
  }
  EXPECT_GE(broker.last_report, 4000);
  EXPECT_LE(broker.last_report, 12'000);
}

TEST_F(AgentSelling, PublishesNothingBeforeItsNumbersAreSafe) {
  store.fails = true;
  start();
  loop.run_for(minutes(1));
  EXPECT_EQ(broker.channel.count("PUT /v1/pools"), 0);
  store.fails = false;
  loop.run_for(seconds(31));
  EXPECT_EQ(broker.pools.size(), 1U);
}

model::Pool named(const char* id, int64_t units) {
  return {PoolId(id), test::plain_shape().times(4), test::plain_shape().times(units)};
}

// A node goes from one pool to another: never is it on sale in both.
TEST_F(AgentSelling, NothingGrowsBeforeWhatShrinksIsTaken) {
  start(Supply{{named("edge-1/old", 8), named("edge-1/stays", 4)}, {}});
  loop.run_for(seconds(1));
  ASSERT_EQ(broker.pools.size(), 2U);
  broker.first = saying("DELETE /v1/pools/edge-1/old", [] { return lost(); });
  agent->set_supply({{named("edge-1/new", 8), named("edge-1/stays", 5)}, {}});
  loop.run_for(seconds(20));
  EXPECT_FALSE(broker.pools.contains("edge-1/new"));
  EXPECT_EQ(broker.pools.at("edge-1/stays").pool.capacity, test::plain_shape().times(4));
  kill();  // it is not forgotten either
  start(std::nullopt);
  loop.run_for(seconds(20));
  EXPECT_FALSE(broker.pools.contains("edge-1/new"));
  broker.first = no_opinion();
  loop.run_for(minutes(1));
  EXPECT_FALSE(broker.pools.contains("edge-1/old"));
  EXPECT_TRUE(broker.pools.contains("edge-1/new"));
  EXPECT_EQ(broker.pools.at("edge-1/stays").pool.capacity, test::plain_shape().times(5));
}

// What was sent and not answered may stand there: to take it back is a shrinking too.
TEST_F(AgentSelling, AnAnswerThatWasLostMayHaveBeenTaken) {
  start(Supply{{named("edge-1/a", 1)}, {}});
  loop.run_for(seconds(1));
  broker.first = saying("PUT /v1/pools/edge-1/a", [] { return lost(); });
  agent->set_supply({{named("edge-1/a", 9)}, {}});
  loop.run_for(seconds(5));
  agent->set_supply({{named("edge-1/a", 1), named("edge-1/b", 8)}, {}});
  loop.run_for(seconds(20));
  EXPECT_FALSE(broker.pools.contains("edge-1/b"));
  broker.first = no_opinion();
  loop.run_for(minutes(1));
  EXPECT_TRUE(broker.pools.contains("edge-1/b"));
}

// Nobody waits for it any more, and the broker hears it after all: when it has said already that it
// knows nothing of the kind, and also when we were started anew since.
TEST_F(AgentSelling, WhatWasStillOnItsWayIsWithdrawn) {
  for (const std::string what : {"PUT /v1/pools", "PUT /v1/offers"}) {
    for (const bool is_killed : {false, true}) {
      store.json.clear();
      broker.withdrawn.clear();
      broker.last_report = 0;
      start(Supply{});
      loop.run_for(seconds(1));
      std::optional<net::Request> late;
      broker.first = [&](const net::Request& request) -> std::optional<Result<net::Response>> {
        const bool is_late = (request.method + " " + request.target).starts_with(what);
        if (!is_late) return net::Response{0, {}, {}};
        late = request;
        return Result<net::Response>(lost());
      };
      agent->set_supply(plain_supply());
      loop.run_for(seconds(2));
      ASSERT_TRUE(late) << what;
      const bool is_offer = broker.pools.size() == 1;
      agent->set_supply({});
      loop.run_for(seconds(1));
      if (is_killed) start(Supply{});
      loop.run_for(seconds(9));
      ASSERT_TRUE(broker.offers.empty());
      broker.first = no_opinion();
      broker.last_report = 0;
      broker.channel.script(*late);
      ASSERT_EQ(broker.offers.size() + broker.pools.size(), is_offer ? 2U : 1U) << what;
      loop.run_for(minutes(2));
      EXPECT_TRUE(broker.pools.empty() && broker.offers.empty()) << what << is_killed;
      kill();
    }
  }
}

TEST_F(AgentSelling, WhatIsWantedAgainMeanwhileIsOnSaleAtOnce) {
  start(Supply{});
  loop.run_for(seconds(1));
  broker.first = saying("PUT", [] { return lost(); });
  agent->set_supply(plain_supply());
  loop.run_for(seconds(2));
  agent->set_supply({});
  loop.run_for(seconds(2));
  broker.first = no_opinion();
  agent->set_supply(plain_supply());
  loop.run_for(seconds(2));
  EXPECT_EQ(broker.pools.size(), 1U);
  EXPECT_EQ(broker.offers.size(), 1U);
}

// More of one thing and less of another, in two pools at once: one of them goes first.
TEST_F(AgentSelling, TwoThatGrowAndShrinkDoNotWaitForEachOther) {
  model::Pool a = named("edge-1/a", 4);
  model::Pool b = named("edge-1/b", 4);
  start(Supply{{a, b}, {}});
  loop.run_for(seconds(1));
  a.capacity.cpu_millis *= 2;
  a.capacity.memory_bytes /= 2;
  b.capacity.cpu_millis /= 2;
  b.capacity.memory_bytes *= 2;
  agent->set_supply({{a, b}, {}});
  loop.run_for(seconds(5));
  EXPECT_EQ(broker.pools.at("edge-1/a").pool, a);
  EXPECT_EQ(broker.pools.at("edge-1/b").pool, b);
}

// An agent whose memory was lost, and whose cluster is not seen yet, knows nothing to withdraw.
TEST_F(AgentSelling, WhoKnowsNoSupplyWithdrawsNothing) {
  start();
  loop.run_for(seconds(1));
  kill();
  store.json.clear();
  start(std::nullopt);
  loop.run_for(minutes(1));
  EXPECT_EQ(broker.channel.count("DELETE"), 0);
  EXPECT_EQ(broker.pools.size(), 1U);
  agent->set_supply({});  // now it does
  loop.run_for(seconds(10));
  EXPECT_EQ(broker.pools.size(), 0U);
}

// Also a hold: as long as it lives, what it holds is kept for it wherever its pool's nodes went.
TEST_F(AgentSelling, TellsWhenWhatIsSoldHasChanged) {
  start();
  int told = 0;
  agent->when_sold_changes([&told] { ++told; });
  loop.run_for(seconds(1));
  model::Contract hold = sold(1, 2);
  hold.state = model::ContractState::hold;
  hold.started.reset();
  broker.tell_of(hold, "contract-held");
  loop.run_for(seconds(1));
  EXPECT_EQ(told, 1);
  ASSERT_EQ(agent->sold().size(), 1U);
  EXPECT_EQ(agent->sold()[0].units, hold.shape.times(2));
  hold.state = model::ContractState::closed;
  broker.contracts[hold.id.text] = hold;
  broker.tell("contract-closed", hold.id.text, hold.pool, hold.provider);
  loop.run_for(seconds(1));
  EXPECT_EQ(told, 2);
  EXPECT_TRUE(agent->sold().empty());
}

}  // namespace
}  // namespace spillway::agent
