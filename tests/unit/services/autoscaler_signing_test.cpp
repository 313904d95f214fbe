// An autoscaler that signs: what is bought counts once its provider has signed, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/services/autoscaler_fixture.h"
#include "unit/services/signed_trade.h"

namespace spillway::autoscaler {
namespace {

using agent::Deed;
using testing::AllOf;
using testing::HasSubstr;
using Kind = model::ContractEventKind;

class AutoscalerSigning : public AutoscalerTest {
 protected:
  AutoscalerSigning() {
    broker.is_strict = true;
    broker.cards["edge-1"] = *provider.sign(provider.card(1, ""));
  }

  Autoscaler& start_signing() {
    service.reset();
    AutoscalerOptions options{ClusterId("home")};
    options.signatory = home;
    options.papers = &papers;
    service.emplace(loop, random, broker.channel, store, nodes, log, options);
    EXPECT_TRUE(service->start());
    loop.run_for(milliseconds(100));
    service->refresh();
    return *service;
  }
  bool is_half_signed() {
    return broker.contracts.size() == 1 && !contract().agreement.empty() &&
           contract().state == model::ContractState::hold;
  }
  // As its agent would.
  void countersign() {
    wire::AgreementAnswer& signed_ = broker.agreements[contract().id.text];
    signed_.document = *provider.countersign(signed_.document);
    signed_.complete = true;
    signed_.events = {*provider.sign({contract().agreement, contract().id},
                                     {.kind = Kind::accepted, .trust = model::Trust::first_use}, 1,
                                     loop.now())};
    contract().state = model::ContractState::active;
    contract().started = loop.now();
    contract().deadline = loop.now() + contract().terms.lease;
    broker.tell("contract-confirmed", contract().id.text);
  }

  agent::Signatory home = agent::signing_member("home");
  agent::Signatory provider = agent::signing_member("edge-1");
  agent::MemoryPapers papers;
};

TEST_F(AutoscalerSigning, WaitsForTheProvidersSignature) {
  start_signing();
  const Outcome outcome = ask(2);
  loop.run_for(milliseconds(500));
  ASSERT_TRUE(is_half_signed());
  EXPECT_FALSE(outcome->has_value());
  EXPECT_EQ(target(), 2);
  countersign();
  loop.run_for(milliseconds(500));
  ASSERT_TRUE(outcome->has_value());
  EXPECT_TRUE(outcome->value());
  EXPECT_EQ(nodes.nodes.size(), 2U);
  const agent::Paper& paper = papers.papers.at(contract().id);
  EXPECT_TRUE(paper.complete);
  EXPECT_EQ(paper.document, broker.agreements[contract().id.text].document);
  EXPECT_EQ(papers.trust.pins.at(ClusterId("edge-1")).key, provider.fingerprint());
}

TEST_F(AutoscalerSigning, AHoldThatIsNeverCountersignedIsRefusedByName) {
  start_signing();
  const Outcome outcome = ask(1);
  loop.run_for(milliseconds(500));
  ASSERT_TRUE(is_half_signed());
  contract().state = model::ContractState::closed;
  contract().reason = model::EndReason::expired;
  contract().units[0].live = false;
  broker.tell("contract-closed", contract().id.text);
  loop.run_for(seconds(1));
  ASSERT_TRUE(outcome->has_value());
  ASSERT_FALSE(outcome->value());
  EXPECT_THAT(outcome->value().error().message(),
              AllOf(HasSubstr("edge-1"), HasSubstr("had signed it")));
  EXPECT_TRUE(papers.papers.at(contract().id).ended) << "half signed, and over";
  EXPECT_EQ(target(), 0);
  EXPECT_TRUE(nodes.nodes.empty());
}

TEST_F(AutoscalerSigning, GoesOnAfterItWasKilledWhileItWaits) {
  start_signing();
  ask(1);
  loop.run_for(milliseconds(500));
  ASSERT_TRUE(is_half_signed());
  kill();
  countersign();
  start_signing();
  loop.run_for(seconds(1));
  EXPECT_EQ(nodes.nodes.size(), 1U);
  EXPECT_EQ(broker.contracts.size(), 1U);
  EXPECT_TRUE(papers.papers.at(contract().id).complete);
}

// What was signed may bind us, whatever the broker thinks of us at the moment.
TEST_F(AutoscalerSigning, WhoIsTurnedAwayWhileItWaitsForgetsNothing) {
  start_signing();
  ask(1);
  loop.run_for(milliseconds(500));
  ASSERT_TRUE(is_half_signed());
  broker.first = agent::saying("", [] {
    return test::ScriptedBroker::refusal(Code::denied, "identity home", "it was revoked");
  });
  loop.run_for(seconds(30));
  EXPECT_EQ(target(), 1);
  countersign();
  broker.first = agent::no_opinion();
  loop.run_for(minutes(2));
  EXPECT_EQ(nodes.nodes.size(), 1U);
  EXPECT_EQ(broker.contracts.size(), 1U);
}

TEST_F(AutoscalerSigning, AProviderWithAnotherKeyThanThePinnedIsNotBoughtFrom) {
  const std::string pinned(64, 'a');
  ASSERT_TRUE(add_pin(papers.trust, ClusterId("edge-1"), pinned, loop.now()));
  start_signing();
  const Status told = increase(1);
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().message(),
              AllOf(HasSubstr(pinned), HasSubstr("spillway trust replace")));
  EXPECT_EQ(sold(), 0) << "the hold was given back";
}

TEST_F(AutoscalerSigning, ABrokerThatHidesTheCardOfAPinnedProviderGetsNoUnsignedContract) {
  ASSERT_TRUE(add_pin(papers.trust, ClusterId("edge-1"), provider.fingerprint(), loop.now()));
  broker.lie = [](wire::AgreementAnswer& told) { told.provider_card.clear(); };
  start_signing();
  const Status told = increase(1);
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().message(), HasSubstr("no card of it is shown"));
}

TEST_F(AutoscalerSigning, WhatIsNotWhatWasAskedForIsNotSigned) {
  broker.lie = [](wire::AgreementAnswer& told) {
    told.contract.price.unit_hour += 1000;
    told.contract.rate = model::hourly_rate(told.contract.price, told.contract.shape);
  };
  start_signing();
  const Status told = increase(1);
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().message(), HasSubstr("not what was asked for"));
  EXPECT_TRUE(contract().agreement.empty());
}

TEST_F(AutoscalerSigning, AForgedSecondSignatureIsNotBelieved) {
  start_signing();
  const Outcome outcome = ask(1);
  loop.run_for(milliseconds(500));
  ASSERT_TRUE(is_half_signed());
  provider = agent::signing_member("edge-1");  // the broker made itself a key
  contract().state = model::ContractState::active;
  contract().started = loop.now();
  contract().deadline = loop.now() + contract().terms.lease;
  broker.agreements[contract().id.text].complete = true;
  broker.tell("contract-confirmed", contract().id.text);
  loop.run_for(seconds(3));
  EXPECT_TRUE(nodes.nodes.empty());
}

TEST_F(AutoscalerSigning, UnitsAreReleasedAndLeasesRenewedBySignature) {
  start_signing();
  ask(2);
  loop.run_for(milliseconds(500));
  countersign();
  loop.run_for(seconds(1));
  loop.run_for(minutes(40));
  ASSERT_FALSE(broker.renewed.empty());
  ASSERT_TRUE(remove({refs()[0]}));
  loop.run_for(seconds(2));
  EXPECT_EQ(sold(), 1);
  std::vector<int64_t> numbers;
  for (const std::string& document : broker.agreements[contract().id.text].events) {
    const auto event = pki::verify_event(document);
    ASSERT_TRUE(event);
    if (event->event.by == ClusterId("home")) numbers.push_back(event->event.number);
  }
  EXPECT_THAT(numbers, testing::ElementsAre(1, 2));
}

TEST_F(AutoscalerSigning, WhatHasEndedIsMarkedOnItsPaper) {
  start_signing();
  ask(2);
  loop.run_for(milliseconds(500));
  countersign();
  loop.run_for(seconds(1));
  const agent::Paper& paper = papers.papers.at(contract().id);
  ASSERT_TRUE(remove({refs()[0]}));
  loop.run_for(seconds(2));
  EXPECT_FALSE(paper.ended) << "one unit is left";
  ASSERT_TRUE(remove({refs()[0]}));
  loop.run_for(seconds(2));
  EXPECT_EQ(sold(), 0);
  EXPECT_TRUE(paper.ended);
}

TEST_F(AutoscalerSigning, WhatOthersEndedIsMarkedWithAllThatWasSigned) {
  start_signing();
  ask(1);
  loop.run_for(milliseconds(500));
  countersign();
  loop.run_for(seconds(1));
  broker.agreements[contract().id.text].events.push_back(
      *provider.sign({contract().agreement, contract().id}, {.kind = Kind::notice}, 2, loop.now()));
  contract().state = model::ContractState::closed;
  contract().reason = model::EndReason::noticed;
  broker.tell("contract-closed", contract().id.text);
  loop.run_for(seconds(1));
  const agent::Paper& paper = papers.papers.at(contract().id);
  EXPECT_TRUE(paper.ended);
  EXPECT_EQ(last_number(paper, ClusterId("edge-1")), 2) << "the notice is kept, too";
}

TEST_F(AutoscalerSigning, AProviderWithoutACardIsBoughtFromAsBefore) {
  broker.cards.erase("edge-1");
  start_signing();
  EXPECT_TRUE(increase(1));
  loop.run_for(seconds(1));
  EXPECT_EQ(nodes.nodes.size(), 1U);
  EXPECT_TRUE(contract().agreement.empty());
}

}  // namespace
}  // namespace spillway::autoscaler
