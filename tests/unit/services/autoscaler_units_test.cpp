#include "autoscaler_fixture.h"

namespace spillway::autoscaler {
namespace {

TEST_F(AutoscalerTest, MakesTheNodeThatTheTemplateHasPromised) {
  start();
  ASSERT_TRUE(increase(1));
  ASSERT_EQ(nodes.nodes.size(), 1u);
  const auto& [name, image] = *nodes.nodes.begin();
  EXPECT_EQ(name, unit_name(contract().id, 0));
  EXPECT_EQ(image, demand::node_image(test::plain_offer(), name, refs().at(0).provider_id));
  EXPECT_EQ(states(), States{UnitState::running});
}

TEST_F(AutoscalerTest, CallsAUnitRunningOnceItsNodeIsReady) {
  nodes.is_slow = true;
  start();
  ASSERT_TRUE(increase(1));
  EXPECT_EQ(states(), States{UnitState::creating});
  nodes.is_slow = false;
  nodes.tell();
  loop.run_for(milliseconds(10));
  EXPECT_EQ(states(), States{UnitState::running});
}

TEST_F(AutoscalerTest, RemovesTheNodeBeforeItGivesTheUnitBack) {
  start();
  ASSERT_TRUE(increase(2));
  nodes.refusal = Error{Code::unavailable, "cluster", "it is away", "wait"};
  ASSERT_TRUE(remove({refs().at(0)}));
  EXPECT_EQ(target(), 1);
  EXPECT_EQ(sold(), 2);  // its node is still there
  nodes.refusal.reset();
  loop.run_for(seconds(60));
  EXPECT_EQ(sold(), 1);
  EXPECT_EQ(nodes.nodes.size(), 1u);
  EXPECT_EQ(states(), States{UnitState::running});
}

TEST_F(AutoscalerTest, GivesBackEvenIfItIsKilledMeanwhile) {
  start();
  ASSERT_TRUE(increase(2));
  broker.loses = [](const net::Request& request) { return request.target.ends_with("/release"); };
  ASSERT_TRUE(remove(refs()));
  kill();
  broker.loses = [](const net::Request&) { return false; };
  start();
  loop.run_for(seconds(5));
  EXPECT_EQ(sold(), 0);
  EXPECT_EQ(target(), 0);
  EXPECT_TRUE(nodes.nodes.empty());
  EXPECT_TRUE(remove({{unit_provider_id(contract().id, 0), {}}}));  // gone already: no error
}

TEST_F(AutoscalerTest, MakesANodeAgainThatSomebodyHasDeleted) {
  start();
  ASSERT_TRUE(increase(1));
  loop.run_for(seconds(20));
  nodes.nodes.clear();
  nodes.tell();
  loop.run_for(seconds(20));
  EXPECT_EQ(nodes.nodes.size(), 1u);
}

TEST_F(AutoscalerTest, RetriesWhatIsNotNowAndFailsWhatIsNever) {
  nodes.refusal = Error{Code::unavailable, "cluster", "it is away", "wait"};
  start();
  ASSERT_TRUE(increase(1));
  loop.run_for(seconds(30));
  EXPECT_EQ(states(), States{UnitState::creating});
  EXPECT_GT(nodes.tries, 2);
  EXPECT_LT(nodes.tries, 30);
  nodes.refusal = Error{Code::denied, "nodes", "home may not make any", "give it the role"};
  loop.run_for(seconds(60));
  EXPECT_EQ(states(), States{UnitState::failed});
  EXPECT_EQ(service->ledger().instances(small).at(0).failure->code, "node-refused");
  EXPECT_EQ(target(), 1);  // until the caller deletes it
}

TEST_F(AutoscalerTest, RemovesNodesThatNoUnitWants) {
  const std::string name = unit_name(make_contract_id(loop.now(), 1, 1), 0);
  nodes.nodes[name] = demand::node_image(test::plain_offer(), name, "spillway://lost/0");
  start();
  loop.run_for(seconds(1));
  EXPECT_TRUE(nodes.nodes.empty());
}

// Its agent renews what it does not know the use of: without an end it would be paid for ever.
TEST_F(AutoscalerTest, GivesBackWhatWasBoughtByALedgerThatIsLost) {
  start();
  ASSERT_TRUE(increase(2));
  ASSERT_EQ(sold(), 2);
  kill();
  store = agent::MemoryState();
  start();
  loop.run_for(seconds(30));
  EXPECT_TRUE(nodes.nodes.empty());
  EXPECT_EQ(sold(), 0);
}

// A watch that is cut shows what was there before.
TEST_F(AutoscalerTest, DoesNotAskAllTheTimeForTheRemovalOfWhatItStillSees) {
  nodes.still_seen = {unit_name(make_contract_id(loop.now(), 1, 1), 0)};
  start();
  loop.run_for(minutes(1));
  EXPECT_GE(nodes.removals, 2);
  EXPECT_LE(nodes.removals, 12);
}

TEST_F(AutoscalerTest, LeavesNodesAloneWhileItCannotSeeThem) {
  nodes.is_blind = true;
  start();
  ASSERT_TRUE(increase(1));
  EXPECT_EQ(nodes.tries, 0);
  nodes.is_blind = false;
  nodes.tell();
  loop.run_for(milliseconds(10));
  EXPECT_EQ(nodes.tries, 1);
}

TEST_F(AutoscalerTest, RenewsLeases) {
  start();
  ASSERT_TRUE(increase(1));
  loop.run_for(hours(3));
  EXPECT_GE(broker.renewed.size(), 3u);
  EXPECT_GT(contract().deadline, loop.now());
  EXPECT_EQ(states(), States{UnitState::running});
}

TEST_F(AutoscalerTest, LeavesContractsOfOthersAlone) {
  model::Contract other = test::plain_contract();
  other.buyer = ClusterId("home");
  other.deadline = loop.now() + hours(1);
  broker.contracts[other.id.text] = other;
  start();
  loop.run_for(hours(1));
  EXPECT_TRUE(broker.renewed.empty());
  EXPECT_EQ(sold(), 1);
}

TEST_F(AutoscalerTest, FailsUnitsOnNoticeAndTakesTheirNodesWhenTheContractIsOver) {
  start();
  ASSERT_TRUE(increase(2));
  model::Contract closing = contract();
  closing.state = model::ContractState::closing;
  closing.reason = model::EndReason::noticed;
  broker.tell_of(closing, "contract-closing");
  loop.run_for(seconds(1));
  EXPECT_EQ(states(), (States{UnitState::failed, UnitState::failed}));
  const auto failure = service->ledger().instances(small).at(0).failure;
  EXPECT_EQ(failure->code, "notice");
  EXPECT_TRUE(failure->is_capacity);
  EXPECT_EQ(nodes.nodes.size(), 2u);  // pods may still leave
  closing.state = model::ContractState::closed;
  broker.tell_of(closing, "contract-closed");
  loop.run_for(seconds(1));
  EXPECT_TRUE(nodes.nodes.empty());
  EXPECT_EQ(target(), 2);
  ASSERT_TRUE(remove(refs()));
  loop.run_for(seconds(1));
  EXPECT_EQ(target(), 0);
}

TEST_F(AutoscalerTest, HearsOfWhatEndedWhileItWasAway) {
  start();
  ASSERT_TRUE(increase(1));
  kill();
  contract().state = model::ContractState::closed;
  contract().reason = model::EndReason::lapsed;
  start();
  loop.run_for(seconds(1));
  EXPECT_EQ(states(), States{UnitState::failed});
  EXPECT_EQ(service->ledger().instances(small).at(0).failure->code, "lapsed");
}

TEST_F(AutoscalerTest, HoldsOnWhileTheBrokerIsSilent) {
  start();
  ASSERT_TRUE(increase(1));
  broker.first = [](const net::Request&) { return test::lost(); };
  broker.channel.end({Code::unavailable, "broker", "it is away", "wait"});
  loop.run_for(minutes(50));
  EXPECT_EQ(states(), States{UnitState::running});
  EXPECT_EQ(target(), 1);
  service->refresh();
  EXPECT_NE(service->ledger().find(small), nullptr);
}

TEST_F(AutoscalerTest, FailsAUnitWhoseNodeIsDeadAndTakesTheNode) {
  start();
  ASSERT_TRUE(increase(2));
  const std::string dead = unit_name(contract().id, 0);
  nodes.unready = {dead};
  nodes.tell();
  loop.run_for(seconds(50));
  nodes.unready.clear();
  nodes.tell();
  loop.run_for(seconds(1));
  nodes.unready = {dead};  // the clock begins anew
  nodes.tell();
  loop.run_for(seconds(50));
  EXPECT_EQ(states(), (States{UnitState::running, UnitState::running}));
  loop.run_for(seconds(20));
  EXPECT_EQ(states(), (States{UnitState::failed, UnitState::running}));
  const auto failure = service->ledger().instances(small).at(0).failure;
  EXPECT_EQ(failure->code, "node-dead");
  EXPECT_FALSE(nodes.nodes.contains(dead));
  EXPECT_EQ(nodes.nodes.size(), 1u);
  EXPECT_EQ(sold(), 2);  // until the caller deletes it
  EXPECT_EQ(service->ledger().find(small)->most(), 2);
}

TEST_F(AutoscalerTest, CallsNobodyDeadWhileItIsBlind) {
  start();
  ASSERT_TRUE(increase(1));
  nodes.unready = {unit_name(contract().id, 0)};
  nodes.tell();
  loop.run_for(seconds(50));
  nodes.is_blind = true;
  nodes.tell();
  loop.run_for(minutes(10));
  nodes.is_blind = false;  // and what it did not see does not count
  nodes.tell();
  loop.run_for(seconds(50));
  EXPECT_EQ(states(), States{UnitState::running});
  loop.run_for(seconds(20));
  EXPECT_EQ(states(), States{UnitState::failed});
}

TEST_F(AutoscalerTest, BlamesNoProviderWhenAllNodesOfSeveralAreNotReady) {
  const OfferId other("edge-2/small");
  wire::OfferPut row = broker.offers[small.text];
  row.offer.id = other;
  row.offer.pool = PoolId("edge-2/pool");
  broker.offers[other.text] = row;
  start();
  ASSERT_TRUE(increase(1));
  service->increase(other, 1, [](const Status& status) { EXPECT_TRUE(status); });
  loop.run_for(seconds(1));
  ASSERT_EQ(nodes.nodes.size(), 2u);
  for (const std::string& name : nodes.names()) nodes.unready.insert(name);
  nodes.tell();
  loop.run_for(minutes(10));
  EXPECT_EQ(states(), States{UnitState::running});
  nodes.unready.erase(nodes.unready.begin());  // one is back: it was not the cluster
  nodes.tell();
  loop.run_for(minutes(2));
  EXPECT_EQ(service->status().running, 1);
  EXPECT_EQ(service->status().failed, 1);
}

void be_silent(test::ScriptedBroker& broker) {
  broker.first = [](const net::Request&) {
    return std::optional<Result<net::Response>>(test::lost());
  };
  broker.channel.end({Code::unavailable, "broker", "the connection broke", ""});
}

// A lease of an hour, 15 minutes of grace, one to drain.
TEST_F(AutoscalerTest, CountsOnAUnitUpToTheStatedPointOfItsContract) {
  start();
  ASSERT_TRUE(increase(1));
  be_silent(broker);
  loop.run_for(minutes(76));
  EXPECT_EQ(states(), States{UnitState::running});
  loop.run_for(minutes(2));
  EXPECT_EQ(states(), States{UnitState::failed});
  EXPECT_EQ(service->ledger().instances(small).at(0).failure->code, "lapsed");
  EXPECT_TRUE(nodes.nodes.empty());
}

TEST_F(AutoscalerTest, WhoIsStartedInSilenceWaitsForAFullLease) {
  start();
  ASSERT_TRUE(increase(1));
  be_silent(broker);
  kill();
  start();
  loop.run_for(minutes(76));
  EXPECT_EQ(states(), States{UnitState::running});
  loop.run_for(minutes(2));
  EXPECT_EQ(states(), States{UnitState::failed});
}

TEST_F(AutoscalerTest, AUnitWhoseContractNoBrokerKnowsFailsAfterTheGrace) {
  start();
  ASSERT_TRUE(increase(1));
  kill();
  const auto contracts = std::exchange(broker.contracts, {});
  start();
  loop.run_for(minutes(14));
  EXPECT_EQ(states(), States{UnitState::running});
  EXPECT_EQ(log.count("does not know a unit's contract"), 1);
  loop.run_for(minutes(2));
  EXPECT_EQ(states(), States{UnitState::failed});
  EXPECT_EQ(service->ledger().instances(small).at(0).failure->code, "unknown");
  ASSERT_TRUE(remove(refs()));
  loop.run_for(seconds(5));
  EXPECT_EQ(target(), 0);
}

TEST_F(AutoscalerTest, AUnitWhoseContractIsKnownAgainInTimeStays) {
  start();
  ASSERT_TRUE(increase(1));
  kill();
  auto contracts = std::exchange(broker.contracts, {});
  start();
  loop.run_for(minutes(10));
  contracts.begin()->second.deadline = loop.now() + hours(1);
  broker.contracts = contracts;
  loop.run_for(minutes(20));
  EXPECT_EQ(states(), States{UnitState::running});
}

// Also when nothing is known of its contract.
TEST_F(AutoscalerTest, ADeadUnitIsReportedWhateverIsKnownOfItsContract) {
  start();
  ASSERT_TRUE(increase(1));
  be_silent(broker);
  kill();
  start();
  nodes.unready.insert(nodes.nodes.begin()->first);
  nodes.tell();
  loop.run_for(minutes(2));
  EXPECT_EQ(states(), States{UnitState::failed});
  EXPECT_EQ(service->status().lost, 1);
  EXPECT_EQ(log.count("a unit is lost"), 1);
}

}  // namespace
}  // namespace spillway::autoscaler
