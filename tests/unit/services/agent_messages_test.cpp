// An agent's end of the relay: its mailbox lives in its state, and is for contracts that both have
// signed. What the mailbox itself refuses is in mailbox_test.cpp.
#include <gtest/gtest.h>

#include "services/agent/letters.h"
#include "unit/services/agent_fixture.h"
#include "unit/services/signed_trade.h"

namespace spillway::agent {
namespace {

// edge-2 has bought from us.
class AgentMessages : public AgentTest {
 protected:
  AgentMessages() {
    options.signatory = trade.provider;
    options.papers = &papers;
    broker.cards["edge-2"] = trade.card_of(trade.buyer);
  }

  void run() {
    start();
    agent->messages().hear("nonce", [this](const Received& message) {
      heard.push_back(fmt::format("{} {}", message.sequence, message.body));
    });
    settle();
  }
  void settle() { loop.run_for(seconds(1)); }
  void sell() {
    const model::Contract held = SignedTrade::held(loop.now());
    agreement = trade.agreement(held);
    wire::AgreementAnswer whole = trade.whole(held);
    whole.provider_card = broker.cards["edge-1"];
    contract = whole.contract;
    broker.agreements[contract.id.text] = whole;
    broker.tell_of(contract, "contract-confirmed");
    settle();
  }
  void buyer_writes(int64_t sequence, const std::string& body, const std::string& step = "nonce") {
    const LetterKeys keys{trade.buyer.key(), trade.buyer.sealing()};
    const auto peer = peer_of(agreement, ClusterId("edge-2"), keys);
    ASSERT_TRUE(peer) << peer.error().message();
    const auto letter = write_letter(*peer, keys, step, sequence, body);
    broker.waiting.push_back({sequence, step, *letter, loop.now() + minutes(5)});
    broker.tell("message-sent", contract.id.text);
    settle();
  }

  SignedTrade trade;
  MemoryPapers papers;
  model::Contract contract;
  model::Agreement agreement;
  std::vector<std::string> heard;
};

TEST_F(AgentMessages, WhatIsSaidIsHeardOnce) {
  run();
  sell();
  buyer_writes(1, "hello");
  buyer_writes(2, "again");
  EXPECT_EQ(heard, (std::vector<std::string>{"1 hello", "2 again"}));
  EXPECT_TRUE(broker.waiting.empty());
  EXPECT_EQ(agent->status().messages.received, 2);
}

TEST_F(AgentMessages, WhatWasHeardBeforeAKillIsNotHeardAgain) {
  run();
  sell();
  buyer_writes(1, "hello");
  const wire::MessageRow first = {1, "nonce", "", loop.now() + minutes(5)};
  kill();
  broker.waiting.push_back(first);  // a broker that lost the acknowledgement, or says so
  run();
  buyer_writes(2, "again");
  EXPECT_EQ(heard, (std::vector<std::string>{"1 hello", "2 again"}));
}

TEST_F(AgentMessages, WhatIsToBeSentSurvivesAKill) {
  run();
  sell();
  broker.loses = [](const net::Request& request) {
    return request.target.find("/messages") != std::string::npos;
  };
  ASSERT_TRUE(agent->messages().send(contract.id, "nonce", "answer"));
  settle();
  kill();
  broker.loses = [](const net::Request&) { return false; };
  run();
  loop.run_for(seconds(10));
  EXPECT_EQ(broker.letters.size(), 1U);
  EXPECT_TRUE(agent->state().mailbox.contracts.at(contract.id).unsent.empty());
  ASSERT_TRUE(agent->messages().send(contract.id, "nonce", "next"));
  EXPECT_EQ(agent->state().mailbox.contracts.at(contract.id).sent, 2);
}

TEST_F(AgentMessages, OfContractsThatAreNotOursNothingIsAsked) {
  run();
  sell();
  broker.asked_for_messages.clear();
  for (int n = 0; n < 100; ++n) {
    broker.tell("message-sent", make_contract_id(loop.now(), 77, static_cast<uint64_t>(n)).text);
  }
  settle();
  EXPECT_TRUE(broker.asked_for_messages.empty());
}

TEST_F(AgentMessages, WithoutAnAgreementThereIsNobodyToWriteTo) {
  run();
  const model::Contract plain = sold(3);
  broker.tell_of(plain, "contract-confirmed");
  settle();
  const auto refused = agent->messages().send(plain.id, "nonce", "hello");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_TRUE(broker.letters.empty());
}

TEST_F(AgentMessages, AnEndedContractLeavesNothing) {
  run();
  sell();
  ASSERT_TRUE(agent->messages().send(contract.id, "nonce", "hello"));
  settle();
  EXPECT_EQ(agent->state().mailbox.contracts.size(), 1U);
  contract.state = model::ContractState::closed;
  contract.reason = model::EndReason::noticed;
  for (model::Unit& unit : contract.units) unit.live = false;
  broker.tell_of(contract, "contract-closed");
  settle();
  EXPECT_TRUE(agent->state().mailbox.contracts.empty());
  EXPECT_FALSE(agent->messages().send(contract.id, "nonce", "hello"));
}

TEST_F(AgentMessages, AStepThatNobodyHearsIsToldAndOver) {
  run();
  sell();
  buyer_writes(1, "hello", "request");
  EXPECT_TRUE(heard.empty());
  EXPECT_TRUE(broker.waiting.empty());
  EXPECT_EQ(log.count("message for nobody contract=" + contract.id.text + " step=request"), 1);
}

TEST_F(AgentMessages, WhoDoesNotSignWritesNothing) {
  options.signatory.reset();
  run();
  EXPECT_FALSE(agent->messages().send(sold(3).id, "nonce", "hello"));
  EXPECT_EQ(agent->status().messages.sent, 0);
}

}  // namespace
}  // namespace spillway::agent
