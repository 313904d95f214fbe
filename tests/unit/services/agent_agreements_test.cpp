// An agent that signs, before a broker that may lie.
#include <gtest/gtest.h>

#include "unit/services/agent_fixture.h"
#include "unit/services/signed_trade.h"

namespace spillway::agent {
namespace {

using Kind = model::ContractEventKind;
using model::ContractState;

class AgentAgreements : public AgentTest {
 protected:
  AgentAgreements() {
    options.signatory = trade.provider;
    options.papers = &papers;
    broker.is_strict = true;
    broker.cards["edge-2"] = trade.card_of(trade.buyer);
  }

  void settle() { loop.run_for(seconds(1)); }
  void start_selling() {
    start();
    settle();
  }
  // The buyer has signed a hold on our offer, and the broker tells of it.
  model::Contract sign_hold() {
    const wire::AgreementAnswer half = trade.half(SignedTrade::held(loop.now()));
    broker.agreements[half.contract.id.text] = half;
    broker.tell_of(half.contract, "contract-signed");
    return half.contract;
  }
  model::Contract& row(const model::Contract& contract) {
    return broker.contracts.at(contract.id.text);
  }
  bool is_active(const model::Contract& contract) {
    return row(contract).state == ContractState::active;
  }
  std::string last_line() const { return log.lines.empty() ? "" : log.lines.back(); }

  // As the buyer edge-1 of edge-2.
  model::Contract buy() {
    SignedTrade turned;
    turned.buyer = trade.provider;
    turned.provider = trade.buyer;
    model::Contract contract = SignedTrade::held(loop.now());
    contract.buyer = ClusterId("edge-1");
    contract.provider = ClusterId("edge-2");
    contract.pool = PoolId("edge-2/standard");
    contract.offer = OfferId("edge-2/small");
    const wire::AgreementAnswer whole = turned.whole(contract);
    broker.agreements[contract.id.text] = whole;
    broker.cards["edge-1"] = whole.buyer_card;
    broker.tell_of(whole.contract, "contract-confirmed");
    return whole.contract;
  }
  std::vector<model::ContractEvent> events_of(const model::Contract& contract, Kind kind) {
    std::vector<model::ContractEvent> found;
    for (const std::string& document : broker.agreements[contract.id.text].events) {
      const auto event = pki::verify_event(document);
      if (event && event->event.kind == kind) found.push_back(event->event);
    }
    return found;
  }

  SignedTrade trade;
  MemoryPapers papers;
};

TEST_F(AgentAgreements, ShowsItsCardAtTheStart) {
  start_selling();
  const auto card = pki::verify_card(broker.cards["edge-1"]);
  ASSERT_TRUE(card);
  EXPECT_EQ(card->card, trade.provider.card(1, ""));
  EXPECT_EQ(papers.trust.card, broker.cards["edge-1"]);
}

TEST_F(AgentAgreements, AnotherKeyIsShownUnderAHigherNumber) {
  const Signatory before = signing_member("edge-1");
  broker.cards["edge-1"] = *before.sign(before.card(6, "liqo-1"));
  start_selling();
  EXPECT_EQ(pki::verify_card(broker.cards["edge-1"])->card, trade.provider.card(7, ""));
  // A broker that came back from a backup knows the old one: the number goes on.
  broker.cards["edge-1"] = *before.sign(before.card(6, "liqo-1"));
  start_selling();
  EXPECT_EQ(pki::verify_card(broker.cards["edge-1"])->card, trade.provider.card(7, ""));
}

TEST_F(AgentAgreements, SignsWhatItsBuyerHasSigned) {
  start_selling();
  const model::Contract contract = sign_hold();
  settle();
  EXPECT_TRUE(is_active(contract));
  const Paper& paper = papers.papers.at(contract.id);
  EXPECT_TRUE(paper.complete);
  EXPECT_EQ(paper.document, broker.agreements[contract.id.text].document);
  EXPECT_TRUE(pki::verify_agreement(paper.document, pki::Signers::both));
  const auto accepted = events_of(contract, Kind::accepted);
  ASSERT_EQ(accepted.size(), 1U);
  EXPECT_EQ(accepted[0].trust, model::Trust::first_use);
  EXPECT_EQ(papers.trust.pins.at(ClusterId("edge-2")).key, trade.buyer.fingerprint());
  EXPECT_EQ(agent->status().agreements_signed, 1);
  EXPECT_EQ(agent->status().agreements_disputed, 0);
}

TEST_F(AgentAgreements, WhatIsNotOurOfferIsRefusedByNameAndLeftToExpire) {
  start_selling();
  wire::AgreementAnswer half;
  model::Contract cheap = SignedTrade::held(loop.now());
  cheap.price.unit_hour = 1;
  cheap.rate = model::hourly_rate(cheap.price, cheap.shape);
  half = trade.half(cheap);
  broker.agreements[cheap.id.text] = half;
  broker.tell_of(half.contract, "contract-signed");
  settle();
  EXPECT_FALSE(is_active(cheap));
  EXPECT_EQ(log.count("agreement refused why=contract " + cheap.id.text), 1);
  EXPECT_EQ(log.count("its price is not the one of our offer edge-1/small"), 1);
  EXPECT_EQ(agent->status().agreements_refused, 1);
  EXPECT_FALSE(papers.papers.contains(cheap.id));
  loop.run_for(minutes(1));
  EXPECT_EQ(log.count("agreement refused"), 1) << "once";
  EXPECT_EQ(agent->status().agreements_refused, 1);
}

TEST_F(AgentAgreements, WhatIsSoldTwiceGetsNoSecondSignature) {
  Supply little = plain_supply();
  little.pools[0].capacity = little.offers[0].shape.times(3);
  start(little);
  settle();
  const model::Contract first = sign_hold();
  loop.run_for(milliseconds(1));  // another id
  const model::Contract second = sign_hold();
  settle();
  EXPECT_TRUE(is_active(first));
  EXPECT_FALSE(is_active(second));
  EXPECT_EQ(log.count("our pool edge-1/standard has no room for it"), 1);
  row(first).state = ContractState::closed;
  broker.tell("contract-closed", first.id.text);
  loop.run_for(seconds(20));
  EXPECT_TRUE(is_active(second));
}

TEST_F(AgentAgreements, ABuyerWithAnotherKeyThanThePinnedIsRefusedUntilTheOperatorConsents) {
  const std::string pinned(64, 'a');
  ASSERT_TRUE(add_pin(papers.trust, ClusterId("edge-2"), pinned, loop.now()));
  start_selling();
  const model::Contract contract = sign_hold();
  settle();
  EXPECT_FALSE(is_active(contract));
  EXPECT_EQ(log.count(pinned), 1);
  EXPECT_EQ(log.count("agreement refused why=contract " + contract.id.text + ", key of edge-2"), 1);
  EXPECT_EQ(log.count("spillway trust replace edge-2 " + trade.buyer.fingerprint()), 1);
  ASSERT_TRUE(
      replace_pin(papers.trust, ClusterId("edge-2"), trade.buyer.fingerprint(), loop.now()));
  loop.run_for(seconds(20));
  EXPECT_TRUE(is_active(contract));
  EXPECT_EQ(events_of(contract, Kind::accepted).at(0).trust, model::Trust::given);
}

TEST_F(AgentAgreements, WhoIsKilledBetweenSigningAndSendingSendsTheSame) {
  std::string sent;
  broker.first = [&](const net::Request& request) -> std::optional<Result<net::Response>> {
    if (!request.target.ends_with("/countersign")) return net::Response{0, {}, {}};
    sent = request.body;
    return fail(Code::unavailable, "broker", "it is away", "");
  };
  start_selling();
  const model::Contract contract = sign_hold();
  settle();
  ASSERT_FALSE(sent.empty());
  EXPECT_FALSE(is_active(contract));
  const Paper before = papers.papers.at(contract.id);
  EXPECT_TRUE(before.complete);
  kill();
  std::string again;
  broker.first = [&](const net::Request& request) -> std::optional<Result<net::Response>> {
    if (request.target.ends_with("/countersign")) again = request.body;
    return net::Response{0, {}, {}};
  };
  loop.run_for(seconds(5));
  start_selling();
  EXPECT_EQ(again, sent);
  EXPECT_TRUE(is_active(contract));
  EXPECT_EQ(papers.papers.at(contract.id).document, before.document);
}

TEST_F(AgentAgreements, ALeaseIsRenewedByANumberedSignature) {
  start_selling();
  const model::Contract contract = buy();
  settle();
  EXPECT_TRUE(papers.papers.at(contract.id).complete);
  loop.run_for(hours(3));
  const auto renewals = events_of(contract, Kind::renewal);
  ASSERT_GE(renewals.size(), 4U);
  for (size_t i = 0; i < renewals.size(); ++i) {
    EXPECT_EQ(renewals[i].number, static_cast<int64_t>(i) + 1);
    EXPECT_EQ(renewals[i].by, ClusterId("edge-1"));
  }
  EXPECT_EQ(agent->status().agreements_disputed, 0) << last_line();
  EXPECT_LE(papers.papers.at(contract.id).events.size(), 2U);
}

TEST_F(AgentAgreements, ANumberThatAnotherProcessHasUsedIsNotUsedAgain) {
  start_selling();
  const model::Contract contract = buy();
  settle();
  // Of the same member, kept before it was sent: only the papers know of it.
  Paper paper = papers.papers.at(contract.id);
  const Deed deed{.kind = Kind::release, .units = {1}};
  const std::string document =
      *trade.provider.sign({paper.agreement, contract.id}, deed, 1, loop.now());
  paper.events = {event_of(*pki::verify_event(document))};
  papers.keep(paper, [](const Result<Paper>& kept) { ASSERT_TRUE(kept); });
  loop.run_for(minutes(40));
  const auto renewals = events_of(contract, Kind::renewal);
  ASSERT_GE(renewals.size(), 1U);
  EXPECT_EQ(renewals[0].number, 2);
}

TEST_F(AgentAgreements, ARowThatSaysWhatNobodySignedIsDisputedAndNotRenewed) {
  start_selling();
  const model::Contract contract = buy();
  settle();
  row(contract).deadline = row(contract).deadline + hours(5);
  broker.tell("contract-renewed", contract.id.text);
  settle();
  EXPECT_EQ(agent->status().agreements_disputed, 1);
  EXPECT_EQ(log.count("contract disputed contract=" + contract.id.text), 1);
  EXPECT_EQ(log.count("its lease ends at"), 1);
  loop.run_for(hours(6));
  EXPECT_TRUE(events_of(contract, Kind::renewal).empty());
  EXPECT_TRUE(broker.renewed.empty());
}

TEST_F(AgentAgreements, AReleaseThatNobodySignedIsDisputed) {
  start_selling();
  const model::Contract contract = sign_hold();
  settle();
  ASSERT_TRUE(is_active(contract));
  row(contract).units[1].live = false;
  broker.tell("units-released", contract.id.text);
  settle();
  EXPECT_EQ(log.count("unit 1 is released, and its buyer signed no release of it"), 1);
  // The broker had only kept it back.
  broker.agreements[contract.id.text].events.push_back(
      *trade.buyer.sign({row(contract).agreement, contract.id},
                        {.kind = Kind::release, .units = {1}}, 1, loop.now()));
  row(contract).deadline = row(contract).deadline - seconds(1);
  broker.tell("contract-moved", contract.id.text);
  settle();
  EXPECT_EQ(agent->status().agreements_disputed, 0);
}

// Killed after it had signed, before its state was saved, while the contract ended.
TEST_F(AgentAgreements, TheEndOfWhatItsStateDoesNotKnowIsKeptAllTheSame) {
  start_selling();
  const std::string before = store.json;
  const model::Contract contract = sign_hold();
  settle();
  ASSERT_TRUE(is_active(contract));
  kill();
  store.json = before;
  broker.agreements[contract.id.text].events.push_back(*trade.buyer.sign(
      {row(contract).agreement, contract.id}, {.kind = Kind::release}, 1, loop.now()));
  row(contract).state = ContractState::closed;
  row(contract).reason = model::EndReason::released;
  for (model::Unit& unit : row(contract).units) {
    unit.live = false;
    unit.ended = loop.now();
  }
  start();
  settle();
  broker.tell("contract-closed", contract.id.text);
  settle();
  EXPECT_TRUE(papers.papers.at(contract.id).ended);
  EXPECT_EQ(papers.papers.at(contract.id).events.size(), 2U) << "accepted and released";
}

TEST_F(AgentAgreements, WhatWasSignedCannotBeTakenBackByTheBroker) {
  start_selling();
  const model::Contract contract = sign_hold();
  settle();
  ASSERT_TRUE(is_active(contract));
  broker.lie = [](wire::AgreementAnswer& told) {
    told.document.clear();
    told.complete = false;
    told.events.clear();
    told.contract.agreement.clear();
  };
  row(contract).agreement.clear();
  broker.tell("contract-moved", contract.id.text);
  settle();
  EXPECT_EQ(log.count("it is called unsigned, and was signed"), 1) << last_line();
  EXPECT_TRUE(papers.papers.at(contract.id).complete);
}

TEST_F(AgentAgreements, NoticeIsSigned) {
  start_selling();
  const model::Contract contract = sign_hold();
  settle();
  ASSERT_TRUE(is_active(contract));
  Supply less = plain_supply();
  less.pools[0].capacity = {};
  agent->set_supply(less);
  settle();
  broker.tell("pool-oversold", "edge-1/standard", PoolId("edge-1/standard"), ClusterId("edge-1"));
  settle();
  EXPECT_EQ(broker.noticed, std::vector<std::string>{contract.id.text});
  EXPECT_EQ(events_of(contract, Kind::notice).size(), 1U);
}

TEST_F(AgentAgreements, MembersWithoutCardsGoOnAsBefore) {
  start_selling();
  broker.tell_of(bought(3), "contract-confirmed");
  loop.run_for(hours(1));
  EXPECT_FALSE(broker.renewed.empty());
  EXPECT_TRUE(papers.papers.empty());
}

}  // namespace
}  // namespace spillway::agent
