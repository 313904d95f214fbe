// Cards, the two signatures that make a hold active, and what is signed under them. The book sees
// documents that the door has verified: here they are only said to be.
#include <gtest/gtest.h>

#include "support/sample_records.h"
#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;
using model::ContractEventKind;
using model::ContractState;

model::Card card_of(const ClusterId& cluster, int n) {
  return {.federation = "alps",
          .cluster = cluster,
          .number = 1,
          .key = sample_key_text(n),
          .sealing = sample_key_text(100 + n),
          .liqo = "liqo-" + cluster.text};
}

class Signing : public testing::Test {
 protected:
  void SetUp() override {
    book.open_market(3);
    for (const auto& [cluster, n] : {std::pair{k_seller, 1}, {k_buyer, 2}, {k_rival, 3}}) {
      join(cluster, n);
      book.run(PutCard{card_of(cluster, n), "{}", sample_key(n)}).value();
    }
  }

  void join(const ClusterId& cluster, int n, const std::string& when = {}) {
    const std::string token = "token-" + cluster.text + when;
    book.run(MakeToken{
                 token, cluster.text, {model::Role::provider, model::Role::consumer}, {}, hours(1)})
        .value();
    book.run(Join{token, sample_key(n), sample_certificate(n), book.now + hours(24)}).value();
  }

  SignedAgreement agreement_for(const ContractId& id) {
    SignedAgreement signed_by_buyer;
    signed_by_buyer.id = sample_key(77);
    signed_by_buyer.document = "half";
    model::Agreement& agreement = signed_by_buyer.agreement;
    agreement = agreement_on(book.contract(id), "alps");
    agreement.buyer.key = sample_key_text(2);
    agreement.buyer.sealing = sample_key_text(102);
    agreement.provider.key = sample_key_text(1);
    agreement.provider.sealing = sample_key_text(101);
    return signed_by_buyer;
  }

  SignedEvent event_for(const ContractId& id, ContractEventKind kind, int64_t number) {
    const bool by_provider = kind == ContractEventKind::accepted ||
                             kind == ContractEventKind::notice || kind == ContractEventKind::usage;
    SignedEvent event;
    event.event.agreement = sample_key(77);
    event.event.hold = id;
    event.event.by = by_provider ? k_seller : k_buyer;
    event.event.key = sample_key_text(by_provider ? 1 : 2);
    event.event.number = number;
    event.event.kind = kind;
    event.event.at = book.now;
    if (kind == ContractEventKind::renewal) event.event.until = book.now + hours(2);
    if (kind == ContractEventKind::accepted) event.event.trust = model::Trust::first_use;
    event.document = fmt::format("{} {}", to_text(kind), number);
    return event;
  }

  Countersign countersign_for(const ContractId& id) {
    SignedAgreement both = agreement_for(id);
    both.document = "whole";
    return {k_seller, id, std::move(both), event_for(id, ContractEventKind::accepted, 1)};
  }

  ContractId half_signed(int32_t units = 1) {
    const ContractId id = book.held(k_buyer, units);
    book.run(Confirm{k_buyer, id, agreement_for(id)}).value();
    return id;
  }
  ContractId signed_by_both(int32_t units = 1) {
    const ContractId id = half_signed(units);
    book.run(countersign_for(id)).value();
    return id;
  }
  const AgreementRecord& record(const ContractId& id) {
    return *book.get<AgreementRecord>(agreement_key(id));
  }

  TestBook book;
};

TEST_F(Signing, BothSignaturesMakeAHoldActive) {
  const ContractId id = book.held(k_buyer, 2);
  const auto half = book.run(Confirm{k_buyer, id, agreement_for(id)});
  ASSERT_TRUE(half) << half.error().message();
  EXPECT_EQ(book.contract(id).state, ContractState::hold) << "the provider has not signed";
  EXPECT_EQ(book.contract(id).agreement, sample_key(77));
  EXPECT_EQ(book.account().open_holds, 1);

  book.pass(minutes(1));
  const auto whole = book.run(countersign_for(id));
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(book.contract(id).state, ContractState::active);
  EXPECT_EQ(book.contract(id).started, book.now) << "money runs from the second signature";
  EXPECT_EQ(book.account().open_holds, 0);
  EXPECT_TRUE(record(id).complete);
  EXPECT_EQ(record(id).document, "whole");
  ASSERT_EQ(record(id).events.size(), 1u);
}

TEST_F(Signing, AskingAgainChangesNothing) {
  const ContractId id = half_signed();
  auto before = book.picture();
  EXPECT_TRUE(book.run(Confirm{k_buyer, id, agreement_for(id)}));
  EXPECT_EQ(book.picture(), before);
  ASSERT_TRUE(book.run(countersign_for(id)));
  before = book.picture();
  EXPECT_TRUE(book.run(countersign_for(id)));
  EXPECT_EQ(book.picture(), before);
}

TEST_F(Signing, BetweenTwoWithCardsNothingIsAgreedUnsigned) {
  const ContractId id = book.held(k_buyer, 1);
  EXPECT_TRUE(is_refused(book.run(Confirm{k_buyer, id}), Code::conflict));
}

TEST_F(Signing, AProviderThatDoesNotSignCostsNobodyAnything) {
  const ContractId id = half_signed();
  book.pass(minutes(5));
  EXPECT_TRUE(is_refused(book.run(countersign_for(id)), Code::gone));
  book.attend();
  EXPECT_EQ(book.contract(id).state, ContractState::closed);
  EXPECT_EQ(book.purse(), (Purse{{}, 0, 0}));
  EXPECT_EQ(book.sold(), 0);
}

struct Forgery {
  const char* what;
  void (*change)(SignedAgreement&);
};

TEST_F(Signing, WhatDiffersFromTheContractOrTheCardsIsRefused) {
  const Forgery forgeries[] = {
      {"rate", [](SignedAgreement& s) { s.agreement.rate += 1; }},
      {"units", [](SignedAgreement& s) { s.agreement.units.clear(); }},
      {"terms", [](SignedAgreement& s) { s.agreement.terms.grace = {}; }},
      {"shape", [](SignedAgreement& s) { s.agreement.shape.cpu_millis -= 1; }},
      {"hold", [](SignedAgreement& s) { s.agreement.hold = sample_contract_id(9); }},
      {"provider", [](SignedAgreement& s) { s.agreement.provider.cluster = k_rival; }},
      {"buyer", [](SignedAgreement& s) { s.agreement.buyer.key = sample_key_text(3); }},
      {"provider", [](SignedAgreement& s) { s.agreement.provider.key = sample_key_text(3); }},
      {"provider", [](SignedAgreement& s) { s.agreement.provider.sealing = sample_key_text(3); }},
      {"provider", [](SignedAgreement& s) { s.agreement.provider.card = 2; }},
      {"held until",
       [](SignedAgreement& s) { s.agreement.sign_by = s.agreement.sign_by + milliseconds(1); }},
      {"Liqo",
       [](SignedAgreement& s) {
         s.agreement.fabric.liqo = model::LiqoPart{"liqo-edge-2", "liqo-edge-3", "k", {}, {}};
       }},
  };
  for (const Forgery& forgery : forgeries) {
    const ContractId id = book.held(k_buyer, 1);
    SignedAgreement forged = agreement_for(id);
    forgery.change(forged);
    const auto before = book.picture();
    const auto answer = book.run(Confirm{k_buyer, id, forged});
    ASSERT_TRUE(is_refused(answer, Code::conflict)) << forgery.what;
    EXPECT_NE(answer.error().reason.find(forgery.what), std::string::npos) << answer.error().reason;
    EXPECT_EQ(book.picture(), before);
    book.run(Release{k_buyer, id, {}}).value();
  }
}

TEST_F(Signing, NobodyElseSigns) {
  const ContractId id = half_signed();
  Countersign other = countersign_for(id);
  other.provider = k_rival;
  EXPECT_TRUE(is_refused(book.run(other), Code::not_found));
  Countersign something_else = countersign_for(id);
  something_else.agreement.id = sample_key(78);
  EXPECT_TRUE(is_refused(book.run(something_else), Code::conflict));
  const ContractId unsigned_one = book.held(k_buyer, 1);
  EXPECT_TRUE(is_refused(book.run(countersign_for(unsigned_one)), Code::conflict));
}

TEST_F(Signing, WhoWasRevokedSignsNothing) {
  const ContractId id = half_signed();
  const ContractId held = book.held(k_buyer, 1);
  book.run(Revoke{k_seller.text}).value();
  EXPECT_FALSE(book.run(countersign_for(id)));
  EXPECT_FALSE(book.run(Confirm{k_buyer, held, agreement_for(held)}));
}

TEST_F(Signing, WhoJoinsAnewIsNotBoundByWhatItHeldBefore) {
  const ContractId id = half_signed();
  book.run(Revoke{k_buyer.text}).value();
  EXPECT_TRUE(is_refused(book.run(countersign_for(id)), Code::denied));
  book.pass(seconds(1));
  join(k_buyer, 4, "again");
  EXPECT_TRUE(is_refused(book.run(countersign_for(id)), Code::gone));
  EXPECT_EQ(book.contract(id).state, ContractState::hold);
}

TEST_F(Signing, WhatIsDoneUnderASignatureIsSigned) {
  const ContractId id = signed_by_both(2);
  EXPECT_TRUE(is_refused(book.run(Renew{k_buyer, id}), Code::conflict));
  EXPECT_TRUE(is_refused(book.run(Release{k_buyer, id, {0}}), Code::conflict));
  EXPECT_TRUE(is_refused(book.run(GiveNotice{k_seller, id}), Code::conflict));

  book.pass(minutes(30));
  ASSERT_TRUE(book.run(Renew{k_buyer, id, event_for(id, ContractEventKind::renewal, 1)}));
  EXPECT_EQ(book.contract(id).deadline, book.now + hours(1));
  SignedEvent release = event_for(id, ContractEventKind::release, 2);
  release.event.units = {1};
  EXPECT_TRUE(is_refused(book.run(Release{k_buyer, id, {0}, release}), Code::conflict))
      << "the units that are signed for are those that are meant";
  ASSERT_TRUE(book.run(Release{k_buyer, id, {1}, release}));
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id, event_for(id, ContractEventKind::notice, 2)}));
  EXPECT_EQ(book.contract(id).state, ContractState::closing);
  EXPECT_EQ(record(id).events.size(), 4u);
}

TEST_F(Signing, ThatItIsDrainedIsSignedToo) {
  const ContractId id = signed_by_both();
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id, event_for(id, ContractEventKind::notice, 2)}));
  const auto before = book.picture();
  EXPECT_TRUE(is_refused(book.run(Drained{k_buyer, id}), Code::conflict));
  const SignedEvent drained = event_for(id, ContractEventKind::drained, 1);
  EXPECT_TRUE(is_refused(book.run(Drained{k_seller, id, drained}), Code::conflict))
      << "the buyer has signed it";
  EXPECT_EQ(book.picture(), before);
  ASSERT_TRUE(book.run(Drained{k_buyer, id, drained}));
  EXPECT_EQ(book.contract(id).state, ContractState::closed);
  EXPECT_EQ(record(id).events.back().kind, ContractEventKind::drained);
  EXPECT_TRUE(book.run(Drained{k_buyer, id, drained})) << "its answer was lost";
}

TEST_F(Signing, ARenewalBindsNoLongerThanItSays) {
  const ContractId id = signed_by_both();
  book.pass(minutes(30));
  SignedEvent renewal = event_for(id, ContractEventKind::renewal, 1);
  renewal.event.until = book.now + minutes(40);
  ASSERT_TRUE(book.run(Renew{k_buyer, id, renewal}));
  EXPECT_EQ(book.contract(id).deadline, book.now + minutes(40));
}

TEST_F(Signing, APromiseThatIsShownAgainTakesNoGraceBack) {
  const ContractId id = signed_by_both();
  book.pass(minutes(30));
  SignedEvent renewal = event_for(id, ContractEventKind::renewal, 1);
  renewal.event.until = book.now + minutes(35);
  ASSERT_TRUE(book.run(Renew{k_buyer, id, renewal}));
  book.pass(minutes(34));
  book.be_away(minutes(5));
  book.attend();
  const Instant moved = book.contract(id).deadline;
  ASSERT_GT(moved, *renewal.event.until) << "by the outage";
  ASSERT_TRUE(book.run(Renew{k_buyer, id, renewal}));
  EXPECT_EQ(book.contract(id).deadline, moved);
  book.attend();
  EXPECT_EQ(book.contract(id).state, ContractState::active);
}

TEST_F(Signing, OfRenewalsTheNewestIsKept) {
  const ContractId id = signed_by_both();
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(book.run(Renew{k_buyer, id, event_for(id, ContractEventKind::renewal, i)}));
  }
  ASSERT_EQ(record(id).events.size(), 2u);
  EXPECT_EQ(record(id).events.back().number, 5);
}

TEST_F(Signing, OfASignedContractReadingsAreSigned) {
  model::Offer offer = minute_offer();
  offer.price.basis = model::PriceBasis::pay_per_use;
  book.publish(offer).value();
  const ContractId id = signed_by_both();
  book.pass(minutes(10));
  const auto reading = [&](int64_t core_ms, int64_t number) {
    MeterUsage usage{k_seller, id, {{0, {.cpu_core_ms = core_ms}}}};
    usage.event = event_for(id, ContractEventKind::usage, number);
    usage.event->event.used = usage.used;
    usage.event->document += fmt::format(", {}", core_ms);
    return usage;
  };
  MeterUsage unsigned_one = reading(1000, 2);
  unsigned_one.event.reset();
  EXPECT_TRUE(is_refused(book.run(unsigned_one), Code::conflict));
  MeterUsage other = reading(1000, 2);
  other.used[0].use.cpu_core_ms = 2000;
  EXPECT_TRUE(is_refused(book.run(other), Code::conflict)) << "that is not what was signed";
  ASSERT_TRUE(book.run(reading(1000, 2)));
  ASSERT_TRUE(book.run(reading(1000, 2))) << "its answer was lost";
  EXPECT_TRUE(is_refused(book.run(reading(1500, 2)), Code::conflict)) << "the number was used";
  ASSERT_TRUE(book.run(reading(2000, 3)));
  EXPECT_EQ(book.contract(id).units[0].metered.cpu_core_ms, 2000);
  EXPECT_EQ(
      std::count_if(record(id).events.begin(), record(id).events.end(),
                    [](const KeptEvent& kept) { return kept.kind == ContractEventKind::usage; }),
      1)
      << "of readings the newest is kept";
}

// Each of them names a unit that the next one does not, so none takes another's place.
TEST_F(Signing, ReadingsInEverOtherCombinationsHaveAnEnd) {
  model::Offer offer = minute_offer();
  offer.price.basis = model::PriceBasis::pay_per_use;
  book.publish(offer).value();
  const ContractId id = signed_by_both(3);
  book.pass(minutes(10));
  const auto reading = [&](std::vector<int32_t> units, int64_t number) {
    MeterUsage usage{k_seller, id, {}};
    for (const int32_t unit : units) usage.used.push_back({unit, {.cpu_core_ms = number}});
    usage.event = event_for(id, ContractEventKind::usage, number);
    usage.event->event.used = usage.used;
    usage.event->document += std::string(size_t{400} << 10, ' ');
    return usage;
  };
  ASSERT_TRUE(book.run(reading({0, 1}, 2)));
  ASSERT_TRUE(book.run(reading({1, 2}, 3)));
  const auto before = book.picture();
  const auto third = book.run(reading({0, 2}, 4));
  ASSERT_TRUE(is_refused(third, Code::conflict));
  EXPECT_NE(third.error().next.find("all units that live"), std::string::npos);
  EXPECT_EQ(book.picture(), before);
  ASSERT_TRUE(book.run(reading({0, 1, 2}, 4)));
  EXPECT_EQ(record(id).events.size(), 2u) << "accepted, and what was read last";
}

TEST_F(Signing, AnEventOfAnotherContractSideKindOrTimeIsRefused) {
  const ContractId id = signed_by_both();
  ASSERT_TRUE(book.run(Renew{k_buyer, id, event_for(id, ContractEventKind::renewal, 3)}));
  const std::pair<const char*, void (*)(SignedEvent&)> forgeries[] = {
      {"heard before", [](SignedEvent& e) { e.event.number = 3; }},
      {"heard before", [](SignedEvent& e) { e.event.number = 2; }},
      {"another contract", [](SignedEvent& e) { e.event.agreement = sample_key(78); }},
      {"another contract", [](SignedEvent& e) { e.event.hold = sample_contract_id(5); }},
      {"not signed by", [](SignedEvent& e) { e.event.by = k_seller; }},
      {"not signed by", [](SignedEvent& e) { e.event.key = sample_key_text(3); }},
      {"is a release", [](SignedEvent& e) { e.event.kind = ContractEventKind::release; }},
  };
  for (const auto& [words, change] : forgeries) {
    SignedEvent event = event_for(id, ContractEventKind::renewal, 4);
    event.document = "forged";
    change(event);
    const auto before = book.picture();
    const auto answer = book.run(Renew{k_buyer, id, event});
    ASSERT_TRUE(is_refused(answer, Code::conflict)) << words;
    EXPECT_NE(answer.error().reason.find(words), std::string::npos) << answer.error().reason;
    EXPECT_EQ(book.picture(), before);
  }
}

TEST_F(Signing, WhatWasSignedForOneThingIsShownForNoOther) {
  const ContractId id = signed_by_both();
  const SignedEvent renewal = event_for(id, ContractEventKind::renewal, 1);
  ASSERT_TRUE(book.run(Renew{k_buyer, id, renewal}));
  const SignedEvent accepted = event_for(id, ContractEventKind::accepted, 1);
  const auto before = book.picture();
  EXPECT_TRUE(is_refused(book.run(Release{k_buyer, id, {}, renewal}), Code::conflict));
  EXPECT_TRUE(is_refused(book.run(GiveNotice{k_seller, id, accepted}), Code::conflict));
  EXPECT_EQ(book.picture(), before);
}

TEST_F(Signing, ACardIsItsClustersOwnAndMovesOnlyForward) {
  model::Card card = card_of(k_buyer, 2);
  EXPECT_TRUE(book.run(PutCard{card, "{}", sample_key(2)})) << "the same again";
  EXPECT_TRUE(is_refused(book.run(PutCard{card, "{}", sample_key(3)}), Code::denied));
  card.sealing = sample_key_text(9);
  EXPECT_TRUE(is_refused(book.run(PutCard{card, "{}", sample_key(2)}), Code::conflict));
  card.number = 2;
  EXPECT_TRUE(book.run(PutCard{card, "{}", sample_key(2)}));
  EXPECT_TRUE(
      is_refused(book.run(PutCard{card_of(k_buyer, 2), "{}", sample_key(2)}), Code::conflict))
      << "an older one";
}

TEST_F(Signing, ALiqoIdBelongsToOneCluster) {
  model::Card card = card_of(k_rival, 3);
  card.number = 2;
  card.liqo = "liqo-" + k_buyer.text;
  EXPECT_TRUE(is_refused(book.run(PutCard{card, "{}", sample_key(3)}), Code::conflict));
  card.liqo = "another";
  EXPECT_TRUE(book.run(PutCard{card, "{}", sample_key(3)}));
  model::Card taken = card_of(k_buyer, 2);
  taken.number = 2;
  taken.liqo = "liqo-" + k_rival.text;
  EXPECT_TRUE(book.run(PutCard{taken, "{}", sample_key(2)})) << "its owner has another one";
  card.number = 3;
  card.liqo = "liqo-" + k_rival.text;
  EXPECT_TRUE(is_refused(book.run(PutCard{card, "{}", sample_key(3)}), Code::conflict))
      << "and cannot have it back";
}

TEST_F(Signing, AStolenKeyUsesUpNoNumbers) {
  model::Card last = card_of(k_buyer, 2);
  last.number = (int64_t{1} << 53) - 1;
  ASSERT_TRUE(book.run(PutCard{last, "{}", sample_key(2)}));
  book.run(Recertify{k_buyer.text, sample_key(2), sample_key(9), sample_certificate(9),
                     book.now + hours(24)})
      .value();
  EXPECT_TRUE(book.run(PutCard{card_of(k_buyer, 9), "{}", sample_key(9)}));
}

}  // namespace
}  // namespace spillway::market
