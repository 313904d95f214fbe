// Cards, and the two signatures that make a hold active.
#include <gtest/gtest.h>

#include "unit/market/signing_fixture.h"

namespace spillway::market {
namespace {

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
