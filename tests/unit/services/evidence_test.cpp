// A broker that lies in every field: each lie is refused, and named.
#include "services/agent/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pki/jws.h"
#include "services/agent/dispute.h"
#include "unit/services/signed_trade.h"

namespace spillway::agent {
namespace {

using testing::HasSubstr;
using Kind = model::ContractEventKind;
using wire::AgreementAnswer;

class EvidenceTest : public testing::Test {
 protected:
  Result<Evidence> weighed(const AgreementAnswer& told) const {
    return weigh(told, contract.id, self);
  }
  // Refused, with these words.
  void refuses(const AgreementAnswer& told, const std::string& words) const {
    const auto evidence = weighed(told);
    ASSERT_FALSE(evidence) << words;
    EXPECT_THAT(evidence.error().message(), HasSubstr(words));
    EXPECT_THAT(evidence.error().message(), HasSubstr(contract.id.text));
  }
  std::string disputed(const AgreementAnswer& told) const {
    const auto evidence = weighed(told);
    if (!evidence) return evidence.error().message();
    return dispute(told.contract, {*evidence->agreement, evidence->complete, evidence->events});
  }
  Status countersigned(const AgreementAnswer& told) const {
    const auto evidence = weighed(told);
    if (!evidence) return tl::unexpected(evidence.error());
    return check_to_countersign(*evidence, self, trade.provider.card(1, ""), &offer, now);
  }

  const Instant now = test::k_some_day;
  SignedTrade trade;
  Self self{ClusterId("edge-1"), "lab"};
  model::Offer offer = test::plain_offer();
  model::Contract contract = SignedTrade::held(now);
};

TEST_F(EvidenceTest, WhatBothSignedIsGood) {
  EXPECT_TRUE(countersigned(trade.half(contract)));
  EXPECT_EQ(disputed(trade.whole(contract)), "");
}

TEST_F(EvidenceTest, ALieOfTheBrokerIsRefused) {
  const AgreementAnswer half = trade.half(contract);
  const AgreementAnswer whole = trade.whole(contract);

  AgreementAnswer told = half;
  told.contract.id = make_contract_id(now, 1, 1);
  refuses(told, "instead");
  told = half;
  told.contract.provider = ClusterId("far");
  refuses(told, "no party");
  told = whole;
  told.document.clear();
  refuses(told, "not shown");
  told = half;
  told.complete = true;
  refuses(told, "the agreement is not as it was signed");
  told = whole;
  told.complete = false;
  refuses(told, "the agreement is not as it was signed");
  told = half;
  told.document = trade.half(SignedTrade::held(now - hours(1))).document;
  refuses(told, "the agreement shown is on contract");
  told = half;
  model::Agreement other = trade.agreement(contract);
  other.trust = model::Trust::given;
  told.document = trade.half(contract, other).document;
  refuses(told, "not the one that the row names");
  other = trade.agreement(contract);
  other.federation = "lab2";
  refuses(trade.half(contract, other), "of federation \"lab2\"");
  told = half;
  told.buyer_card = trade.card_of(trade.stranger);
  refuses(told, "the card shown for edge-2 is one of mallory");
  told = half;
  told.provider_card[told.provider_card.size() / 2] ^= 1;
  refuses(told, "the card of edge-1");
}

TEST_F(EvidenceTest, ASignatureThatIsSwappedDroppedDoubledOrAnothersIsRefused) {
  const AgreementAnswer whole = trade.whole(contract);
  const auto with = [&](std::string document) {
    AgreementAnswer told = whole;
    told.document = std::move(document);
    return told;
  };
  const std::string& good = whole.document;
  const size_t first = good.find("{\"protected\"");
  const size_t second = good.find("{\"protected\"", first + 1);
  const std::string one = good.substr(first, second - 1 - first);
  const std::string two = good.substr(second, good.find("]}", second) - second);
  const auto document = [&](const std::string& signatures) {
    return good.substr(0, first) + signatures + good.substr(good.find("]}", second));
  };
  ASSERT_EQ(document(one + "," + two), good);
  refuses(with(document(two + "," + one)), "the agreement is not");
  refuses(with(document(one)), "the agreement is not");
  refuses(with(document(two)), "the agreement is not");
  refuses(with(document(one + "," + one)), "the agreement is not");
  refuses(with(document(one + "," + two + "," + two)), "the agreement is not");
  // The signature bytes of the other.
  const auto bytes_of = [](const std::string& signature) {
    const size_t at = signature.find("\"signature\":\"") + 13;
    return signature.substr(at, signature.find('"', at) - at);
  };
  std::string swapped = good;
  swapped.replace(swapped.find(bytes_of(one)), bytes_of(one).size(), bytes_of(two));
  refuses(with(swapped), "the agreement is not");
  auto jws = *pki::Jws::parse(trade.half(contract).document);
  ASSERT_TRUE(jws.add_signature(trade.stranger.key()));
  refuses(with(jws.to_text()), "the agreement is not");
}

TEST_F(EvidenceTest, AnEventMustBeAPartysOwnOnThisContract) {
  const AgreementAnswer whole = trade.whole(contract);
  const auto with = [&](std::vector<std::string> events) {
    AgreementAnswer told = whole;
    told.events = std::move(events);
    return told;
  };
  const Deed renewal{.kind = Kind::renewal, .until = now + hours(2)};
  const std::string good = SignedTrade::deed(whole, trade.buyer, 1, renewal);
  EXPECT_TRUE(weighed(with({good})));
  refuses(with({good, good}), "event 1 of edge-2 is shown twice");
  refuses(with({SignedTrade::deed(whole, trade.provider, 2, renewal)}), "not for this side to say");
  refuses(with({SignedTrade::deed(whole, trade.stranger, 1, renewal)}), "nobody who is a party");
  const Signatory thief = signing_member("edge-2");
  refuses(with({SignedTrade::deed(whole, thief, 1, renewal)}), "another key than the agreement's");
  AgreementAnswer older = trade.whole(SignedTrade::held(now - hours(1)));
  refuses(with({SignedTrade::deed(older, trade.buyer, 1, renewal)}), "of another contract");
  std::string altered = good;
  altered[altered.find("\"payload\":\"") + 30] ^= 1;
  refuses(with({altered}), "an event is not as it was signed");
  AgreementAnswer unsigned_ = whole;
  unsigned_.document.clear();
  unsigned_.contract.agreement.clear();
  refuses(unsigned_, "events are shown of what nobody signed");
}

// Each field of the row changed after both have signed.
TEST_F(EvidenceTest, ARowThatDiffersFromWhatWasSignedIsDisputed) {
  const AgreementAnswer whole = trade.whole(contract);
  const auto with = [&](auto change) {
    AgreementAnswer told = whole;
    change(told.contract);
    return disputed(told);
  };
  EXPECT_THAT(with([](auto& row) { row.pool = PoolId("edge-1/other"); }), HasSubstr("its pool"));
  EXPECT_THAT(with([](auto& row) { row.offer = OfferId("edge-1/other"); }), HasSubstr("its offer"));
  EXPECT_THAT(with([](auto& row) { row.shape.cpu_millis += 1; }), HasSubstr("its shape"));
  EXPECT_THAT(with([](auto& row) { row.price.cpu_hour += 1; }), HasSubstr("its price"));
  EXPECT_THAT(with([](auto& row) { row.rate += 1; }), HasSubstr("its rate"));
  EXPECT_THAT(with([](auto& row) { row.terms.lease = hours(9); }), HasSubstr("its terms"));
  EXPECT_THAT(with([](auto& row) { row.terms.fence = hours(9); }), HasSubstr("its terms"));
  EXPECT_THAT(with([](auto& row) { row.units.pop_back(); }), HasSubstr("its units"));
  EXPECT_THAT(with([](auto& row) { row.buyer = ClusterId("edge-3"); }), HasSubstr("edge-3"));
  EXPECT_THAT(with([](auto& row) { row.deadline = row.deadline + hours(1); }),
              HasSubstr("its lease ends"));
  EXPECT_THAT(with([](auto& row) { row.started = row.created + hours(3); }), HasSubstr("it began"));
  EXPECT_THAT(with([](auto& row) { row.units[1].live = false; }), HasSubstr("unit 1 is released"));
  EXPECT_THAT(with([](auto& row) {
                row.state = model::ContractState::closing;
                row.reason = model::EndReason::noticed;
              }),
              HasSubstr("its provider signed none"));
}

// Money and times that nobody signed for, in the book of a broker that turned.
TEST_F(EvidenceTest, MoneyBeyondWhatWasSignedIsDisputed) {
  AgreementAnswer closed = trade.whole(contract);
  closed.events.push_back(trade.deed(closed, trade.buyer, 1, {.kind = Kind::release}));
  closed.contract.state = model::ContractState::closed;
  closed.contract.reason = model::EndReason::released;
  closed.contract.deadline = contract.created + minutes(30);
  for (model::Unit& unit : closed.contract.units) {
    unit.live = false;
    unit.reserved = 0;
    unit.ended = closed.contract.deadline;
    unit.charged = model::charge_for(closed.contract.rate, minutes(30));
  }
  EXPECT_EQ(disputed(closed), "");
  const auto with = [&](auto change) {
    AgreementAnswer told = closed;
    change(told.contract);
    return disputed(told);
  };
  EXPECT_THAT(with([](auto& row) { row.units[0].charged += 2; }), HasSubstr("is charged"));
  EXPECT_THAT(with([](auto& row) { row.started = row.created - hours(24 * 30); }),
              HasSubstr("its provider signed at"));
  EXPECT_THAT(with([](auto& row) { row.units[1].ended = row.created + hours(24 * 30); }),
              HasSubstr("unit 1 ended"));
  EXPECT_THAT(with([](auto& row) { row.units[1].metered.cpu_core_ms = 1; }),
              HasSubstr("more is metered"));
  AgreementAnswer closing = trade.whole(contract);
  closing.contract.state = model::ContractState::closing;
  closing.contract.reason = model::EndReason::lapsed;
  closing.contract.deadline = contract.created + hours(24 * 30);
  EXPECT_THAT(disputed(closing), HasSubstr("it is over at"));
}

TEST_F(EvidenceTest, EitherSideSaysThatNothingRunsAnyMore) {
  for (const Signatory* by : {&trade.buyer, &trade.provider}) {
    AgreementAnswer told = trade.whole(contract);
    told.events.push_back(trade.deed(told, *by, 2, {.kind = Kind::drained}));
    EXPECT_TRUE(weigh(told, contract.id, {trade.buyer.cluster(), "lab"}));
  }
}

TEST_F(EvidenceTest, ARowMaySayWhatWasSigned) {
  AgreementAnswer told = trade.whole(contract);
  const Instant until = told.contract.deadline + contract.terms.lease;
  told.events.push_back(
      SignedTrade::deed(told, trade.buyer, 1, {.kind = Kind::renewal, .until = until}));
  told.contract.deadline = until;
  EXPECT_EQ(disputed(told), "");
  told.contract.deadline = until + contract.terms.grace;
  EXPECT_EQ(disputed(told), "") << "an outage moves it";
  told.contract.deadline = told.contract.deadline + milliseconds(1);
  EXPECT_NE(disputed(told), "");
  told.contract.deadline = until;
  told.events.push_back(
      SignedTrade::deed(told, trade.buyer, 2, {.kind = Kind::release, .units = {1}}));
  told.contract.units[1].live = false;
  EXPECT_EQ(disputed(told), "");
  told.events.push_back(SignedTrade::deed(told, trade.provider, 2, {.kind = Kind::notice}));
  told.contract.state = model::ContractState::closing;
  told.contract.reason = model::EndReason::noticed;
  EXPECT_EQ(disputed(told), "");
}

TEST_F(EvidenceTest, AUnitGivenBackAsAHoldNeedsNoSignatureAndCostsNothing) {
  contract.price.minimum_term = hours(1);
  AgreementAnswer told = trade.whole(contract);
  model::Unit& unit = told.contract.units[1];
  unit.live = false;
  unit.reserved = 0;
  unit.ended = *told.contract.started - seconds(3);
  EXPECT_EQ(disputed(told), "");
  unit.charged = 1;
  EXPECT_THAT(disputed(told), HasSubstr("unit 1 is released")) << "it was never begun";
  unit.charged = 0;
  unit.ended = *told.contract.started + milliseconds(1);
  EXPECT_THAT(disputed(told), HasSubstr("unit 1 is released"));
}

// What a buyer gave back before is charged as given back, however the contract ended later.
TEST_F(EvidenceTest, AUnitGivenBackBeforeANoticeOwesItsMinimumTerm) {
  contract.price.minimum_term = hours(1);
  AgreementAnswer told = trade.whole(contract);
  const Instant began = *told.contract.started;
  told.events.push_back(
      SignedTrade::deed(told, trade.buyer, 1, {.kind = Kind::release, .units = {1}}));
  told.events.push_back(SignedTrade::deed(told, trade.provider, 2, {.kind = Kind::notice}));
  told.contract.state = model::ContractState::closed;
  told.contract.reason = model::EndReason::noticed;
  const int64_t rate = told.contract.rate;
  model::Unit& kept = told.contract.units[0];
  model::Unit& released = told.contract.units[1];
  kept.live = released.live = false;
  released.ended = began + minutes(10);
  released.charged = model::charge_for(rate, hours(1));
  kept.ended = began + minutes(25);
  kept.charged = model::charge_for(rate, minutes(25));
  ASSERT_GT(released.charged, kept.charged);
  EXPECT_EQ(disputed(told), "");
  released.charged += 1;
  EXPECT_THAT(disputed(told), HasSubstr("unit 1 is charged"));
  released.charged -= 1;
  kept.charged += 1;
  EXPECT_THAT(disputed(told), HasSubstr("unit 0 is charged")) << "the minimum term binds the buyer";
}

TEST_F(EvidenceTest, ASpareIsBoughtByItsBuyersSignatureOfThatTime) {
  contract.spare = true;
  for (model::Unit& unit : contract.units) unit.reserved = 0;
  AgreementAnswer told = trade.whole(contract);
  EXPECT_EQ(disputed(told), "");
  AgreementAnswer plain = told;
  plain.contract.spare = false;
  EXPECT_THAT(disputed(plain), HasSubstr("its spare is not what was agreed"));
  told.contract.units[0].bought = *told.contract.started + minutes(1);
  EXPECT_THAT(disputed(told), HasSubstr("unit 0 is bought"));
  told.events.push_back(
      SignedTrade::deed(told, trade.buyer, 1, {.kind = Kind::purchase, .units = {0}}));
  EXPECT_EQ(disputed(told), "");
  told.contract.units[0].bought = *told.contract.started + minutes(11);
  EXPECT_THAT(disputed(told), HasSubstr("signed no such purchase")) << "an old promise";
  told.contract.units[0].bought = *told.contract.started + minutes(1);
  told.contract.units[1].bought = told.contract.units[0].bought;
  EXPECT_THAT(disputed(told), HasSubstr("unit 1 is bought"));
  told.contract.units[1].bought.reset();
  told.events.push_back(
      SignedTrade::deed(told, trade.provider, 2, {.kind = Kind::purchase, .units = {1}}));
  EXPECT_FALSE(weighed(told)) << "that is for the buyer to say";
}

// Else a lease could be said to have begun, and to cost, since any time.
TEST_F(EvidenceTest, WhenTheProviderSignedMustBeShown) {
  AgreementAnswer told = trade.whole(contract);
  told.events.clear();
  EXPECT_THAT(disputed(told), HasSubstr("when its provider signed is not shown"));
}

TEST_F(EvidenceTest, AnActiveRowNeedsBothSignatures) {
  AgreementAnswer told = trade.half(contract);
  told.contract.state = model::ContractState::active;
  told.contract.started = now;
  told.contract.deadline = now + contract.terms.lease;
  EXPECT_THAT(disputed(told), HasSubstr("its provider has not signed"));
}

// The buyer has signed, the broker shows a row to match, and it is not what we sell.
TEST_F(EvidenceTest, AProviderSignsOnlyItsOwnOffer) {
  const auto refused = [&](auto change) {
    model::Contract other = contract;
    change(other);
    other.rate = model::hourly_rate(other.price, other.shape);
    const Status told = countersigned(trade.half(other));
    return told ? std::string() : told.error().message();
  };
  EXPECT_EQ(refused([](auto&) {}), "");
  EXPECT_THAT(refused([](auto& row) { row.pool = PoolId("edge-1/other"); }), HasSubstr("its pool"));
  EXPECT_THAT(refused([](auto& row) { row.shape.pods += 1; }), HasSubstr("its shape"));
  EXPECT_THAT(refused([](auto& row) { row.price.unit_hour -= 1; }), HasSubstr("its price"));
  EXPECT_THAT(refused([](auto& row) { row.terms.notice = seconds(1); }), HasSubstr("its terms"));
  offer.visibility = {};
  offer.visibility.clusters = {ClusterId("edge-3")};
  EXPECT_THAT(refused([](auto&) {}), HasSubstr("is not for edge-2"));
  const auto evidence = weighed(trade.half(contract));
  const Status none =
      check_to_countersign(*evidence, self, trade.provider.card(1, ""), nullptr, now);
  EXPECT_THAT(none.error().message(), HasSubstr("we do not offer edge-1/small"));
}

TEST_F(EvidenceTest, AProviderSignsOnlyWhatIsBetweenTheCardsInTime) {
  const auto refused = [&](auto change) {
    model::Agreement made = trade.agreement(contract);
    change(made);
    const Status told = countersigned(trade.half(contract, made));
    return told ? std::string() : told.error().message();
  };
  EXPECT_THAT(refused([](auto& made) { made.provider.card = 2; }), HasSubstr("card of edge-1"));
  EXPECT_THAT(refused([&](auto& made) { made.provider.key = trade.stranger.key_text(); }),
              HasSubstr("card of edge-1"));
  EXPECT_THAT(refused([](auto& made) { made.buyer.card = 2; }), HasSubstr("card of edge-2"));
  EXPECT_THAT(refused([](auto& made) { made.buyer.sealing = made.provider.sealing; }),
              HasSubstr("card of edge-2"));
  EXPECT_THAT(refused([&](auto& made) { made.sign_by = now; }), HasSubstr("was good until"));
  EXPECT_THAT(refused([](auto& made) { made.units.pop_back(); }), HasSubstr("differs in: units"));
  EXPECT_THAT(refused([](auto& made) { made.terms.by_buyer = model::EarlyEnd::time_used; }),
              HasSubstr("early end by the buyer"));
  EXPECT_THAT(refused([](auto& made) {
                made.fabric.liqo = model::LiqoPart{"lyon",
                                                   "turin",
                                                   "key",
                                                   std::string(64, 'a'),
                                                   {std::string(64, 'b'), std::string(64, 'c')}};
              }),
              HasSubstr("other Liqo clusters"));
  AgreementAnswer told = trade.half(contract);
  told.buyer_card.clear();
  EXPECT_THAT(countersigned(told).error().message(), HasSubstr("edge-2 shows no card"));
}

}  // namespace
}  // namespace spillway::agent
