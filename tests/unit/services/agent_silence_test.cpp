// A broker that says nothing: nothing is ended before its stated point, nothing is kept beyond it,
// and the broker hears of it when it is back.
#include "unit/services/agent_fixture.h"

namespace spillway::agent {
namespace {

using test::lost;

// Terms: a lease of an hour, 15 minutes of grace, one to drain. Clocks may differ by half a minute.
class AgentSilence : public AgentTest {
 protected:
  void be_silent() {
    broker.first = [](const net::Request&) { return std::optional<Result<net::Response>>(lost()); };
    broker.channel.end({Code::unavailable, "broker", "the connection broke", ""});
  }
  void come_back() { broker.first = no_opinion(); }
  bool knows(const model::Contract& contract) const {
    return agent->state().contracts.contains(contract.id);
  }
  model::Contract start_with(model::Contract contract) {
    broker.contracts[contract.id.text] = contract;
    start();
    loop.run_for(seconds(11));
    EXPECT_TRUE(knows(contract));
    return contract;
  }
};

TEST_F(AgentSilence, WhatIsSoldIsCarriedUpToItsStatedPointAndNoLonger) {
  const model::Contract contract = start_with(sold(1));
  be_silent();
  loop.run_for(minutes(76));
  EXPECT_TRUE(knows(contract)) << "lease, grace and drain";
  loop.run_for(minutes(2));
  EXPECT_FALSE(knows(contract));
  EXPECT_EQ(log.count("a contract is ended here"), 1);
  EXPECT_EQ(agent->status().orphans_ended, 1);
}

TEST_F(AgentSilence, WhatTheAgentEndedIsToldAndNotBroughtBack) {
  const model::Contract contract = start_with(sold(1));
  be_silent();
  loop.run_for(minutes(80));
  ASSERT_FALSE(knows(contract));
  // Only we were cut off: its buyer has renewed.
  broker.contracts[contract.id.text].deadline = loop.now() + hours(1);
  kill();
  come_back();
  start();
  loop.run_for(minutes(1));
  EXPECT_FALSE(knows(contract));
  EXPECT_EQ(broker.noticed, std::vector<std::string>{contract.id.text});
  EXPECT_EQ(broker.drained, std::vector<std::string>{contract.id.text});
  EXPECT_TRUE(agent->state().ended_unheard.empty());
  EXPECT_TRUE(carried().empty());
}

TEST_F(AgentSilence, ABrokerThatIsBackInTimeFindsEverythingAsItWas) {
  const model::Contract contract = start_with(sold(1));
  be_silent();
  loop.run_for(minutes(74));
  broker.contracts[contract.id.text].deadline = loop.now() + minutes(10);
  come_back();
  loop.run_for(minutes(9));
  EXPECT_TRUE(knows(contract));
  EXPECT_TRUE(broker.noticed.empty());
  EXPECT_EQ(log.count("ended here"), 0);
}

TEST_F(AgentSilence, WhoSleptThroughTheEndWaitsAsLongAsOneWhoWatched) {
  const model::Contract contract = start_with(sold(1));
  kill();
  be_silent();
  loop.run_for(hours(3));
  start();
  loop.run_for(minutes(16));
  EXPECT_TRUE(knows(contract)) << "it has not seen so much silence itself";
  loop.run_for(minutes(2));
  EXPECT_FALSE(knows(contract));
}

TEST_F(AgentSilence, WhatIsClosingEndsWhenItWasSaidTo) {
  model::Contract contract = sold(1);
  contract.state = model::ContractState::closing;
  contract.reason = model::EndReason::noticed;
  contract.deadline = loop.now() + minutes(10);
  start_with(contract);
  be_silent();
  loop.run_for(minutes(9));
  EXPECT_TRUE(knows(contract));
  loop.run_for(minutes(3));
  EXPECT_FALSE(knows(contract));
}

TEST_F(AgentSilence, WhatWasUsedOfTheGraceIsNotLeft) {
  model::Contract contract = sold(1);
  contract.grace_used = minutes(15);
  start_with(contract);
  be_silent();
  loop.run_for(minutes(61));
  EXPECT_TRUE(knows(contract));
  loop.run_for(minutes(2));
  EXPECT_FALSE(knows(contract));
}

TEST_F(AgentSilence, WhoIsDeniedHearsNothingEither) {
  const model::Contract contract = start_with(sold(1));
  broker.first = [](const net::Request&) -> std::optional<Result<net::Response>> {
    return Result<net::Response>(fail(Code::denied, "broker", "you are revoked", "join again"));
  };
  broker.channel.end({Code::denied, "broker", "you are revoked", "join again"});
  loop.run_for(minutes(76));
  EXPECT_TRUE(knows(contract));
  loop.run_for(minutes(3));
  EXPECT_FALSE(knows(contract));
}

TEST_F(AgentSilence, WhatIsBoughtIsKeptAsLongAndRenewedWhenTheBrokerIsBack) {
  const model::Contract contract = bought(1);
  start_with(contract);
  be_silent();
  loop.run_for(minutes(70));
  EXPECT_TRUE(knows(contract));
  come_back();
  loop.run_for(minutes(1));
  EXPECT_EQ(broker.renewed.size(), 1U);
  be_silent();
  loop.run_for(minutes(80));
  EXPECT_FALSE(knows(contract));
  EXPECT_TRUE(agent->state().ended_unheard.empty()) << "its buyer has nothing to tell";
}

TEST_F(AgentSilence, ALeaseThatIsSaidToEndIsRenewedAtOnce) {
  const model::Contract contract = bought(1);
  start_with(contract);
  broker.first = saying("POST", [] {
    return Result<net::Response>(fail(Code::over_budget, "contract", "no money", "earn some"));
  });
  loop.run_for(minutes(45));
  broker.first = no_opinion();
  ASSERT_TRUE(broker.renewed.empty());
  broker.tell("contract-ending", contract.id.text, contract.pool, contract.provider);
  loop.run_for(milliseconds(100));
  EXPECT_EQ(broker.renewed.size(), 1U);
  EXPECT_EQ(log.count("a lease ends that was not renewed"), 1);
}

}  // namespace
}  // namespace spillway::agent
