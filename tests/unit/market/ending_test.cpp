// How units end. Whatever the reason: capacity, quota and money go back, per unit, once.
#include <gtest/gtest.h>

#include "market/metering.h"
#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;
using model::ContractState;
using model::EndReason;
using test::plain_shape;

class Ending : public testing::Test {
 protected:
  void SetUp() override { book.open_market(6); }

  // Everything of the buyer has gone back.
  void expect_nothing_held() {
    EXPECT_TRUE(book.pool().committed.is_zero());
    EXPECT_EQ(book.account().units, 0);
    EXPECT_EQ(book.account().open_holds, 0);
    EXPECT_TRUE(book.account().used.is_zero());
    EXPECT_EQ(book.purse().reserved, 0);
  }
  OfferId offer_with_term(Duration minimum_term) {
    model::Offer offer = minute_offer("term");
    offer.price.minimum_term = minimum_term;
    book.publish(offer).value();
    return offer.id;
  }

  TestBook book;
};

TEST_F(Ending, ReleasingAllClosesAndCharges) {
  const ContractId id = book.active(k_buyer, 3);
  book.pass(minutes(20));
  const auto answer = book.run(Release{k_buyer, id, {}});
  ASSERT_TRUE(answer);
  const model::Contract& contract = book.contract(id);
  EXPECT_EQ(*answer->contract, contract);
  EXPECT_EQ(contract.state, ContractState::closed);
  EXPECT_EQ(contract.reason, EndReason::released);
  for (const model::Unit& unit : contract.units) {
    EXPECT_FALSE(unit.live);
    EXPECT_EQ(unit.ended, book.now);
    EXPECT_EQ(unit.charged, 20'000);
    EXPECT_EQ(unit.reserved, 0);
  }
  expect_nothing_held();
  EXPECT_EQ(book.purse().spent, 60'000);
}

TEST_F(Ending, MoneyQuotaAndCapacityFollowPerUnit) {
  const ContractId id = book.active(k_buyer, 3);
  book.pass(minutes(10));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {1}}));
  EXPECT_EQ(book.contract(id).state, ContractState::active);
  EXPECT_EQ(book.contract(id).reason, EndReason::none);
  EXPECT_TRUE(book.contract(id).units[0].live);
  EXPECT_FALSE(book.contract(id).units[1].live);
  EXPECT_TRUE(book.contract(id).units[2].live);
  EXPECT_EQ(book.contract(id).units[1].number, 1) << "names do not move up";
  EXPECT_EQ(book.pool().committed, plain_shape().times(2));
  EXPECT_EQ(book.account().units, 2);
  EXPECT_EQ(book.account().used, plain_shape().times(2));
  EXPECT_EQ(book.purse(), (Purse{{}, 2 * k_set_aside, 10'000}));
  EXPECT_EQ(book.rows().events().back().kind, EventKind::units_released);

  book.pass(minutes(10));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {0}}));
  EXPECT_EQ(book.purse(), (Purse{{}, k_set_aside, 30'000}));
  book.pass(minutes(10));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {2}}));
  EXPECT_EQ(book.contract(id).state, ContractState::closed);
  EXPECT_EQ(book.rows().events().back().kind, EventKind::contract_closed);
  EXPECT_EQ(book.purse(), (Purse{{}, 0, 60'000}));  // 10 + 20 + 30 minutes
  expect_nothing_held();
}

TEST_F(Ending, AUnitNamedTwiceEndsOnce) {
  const ContractId id = book.active(k_buyer, 3);
  book.pass(minutes(10));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {1, 1, 1}}));
  EXPECT_EQ(book.account().units, 2);
  EXPECT_EQ(book.purse().spent, 10'000);
}

TEST_F(Ending, RetriesOfAReleaseChangeNothing) {
  const ContractId id = book.active(k_buyer, 3);
  book.pass(minutes(10));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {1}}));
  const size_t events = book.rows().events().size();
  auto before = book.picture();
  book.pass(minutes(1));
  EXPECT_TRUE(book.run(Release{k_buyer, id, {1}}));
  EXPECT_EQ(book.picture(), before);
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  before = book.picture();
  book.pass(minutes(1));
  EXPECT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_TRUE(book.run(Release{k_buyer, id, {0, 1, 2}}));
  EXPECT_EQ(book.picture(), before);
  EXPECT_EQ(book.rows().events().size(), events + 1);
}

TEST_F(Ending, AHoldIsGivenBackForNothing) {
  const ContractId id = book.held(k_buyer, 3);
  book.pass(minutes(3));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {2}}));
  EXPECT_EQ(book.account().open_holds, 1);
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_EQ(book.contract(id).reason, EndReason::released);
  EXPECT_EQ(book.purse(), (Purse{{}, 0, 0}));
  expect_nothing_held();
}

TEST_F(Ending, APartOfAHoldIsConfirmedAfterTheRestWentBack) {
  const ContractId id = book.held(k_buyer, 3);
  ASSERT_TRUE(book.run(Release{k_buyer, id, {0}}));
  ASSERT_TRUE(book.run(Confirm{k_buyer, id}));
  book.pass(minutes(10));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_EQ(book.purse().spent, 20'000) << "the unit that went back as a hold costs nothing";
  expect_nothing_held();
}

TEST_F(Ending, ChargesAreRoundedUpToTheMicroUnit) {
  const ContractId id = book.active(k_buyer, 1);
  book.pass(milliseconds(1));  // 60,000 an hour: 1/60 of a micro-unit
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_EQ(book.purse().spent, 1);
}

TEST_F(Ending, TheMinimumTermIsPaidByWhoLeavesEarly) {
  const ContractId id = book.active(k_buyer, 2, offer_with_term(minutes(30)));
  book.pass(minutes(10));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {0}}));
  EXPECT_EQ(book.purse().spent, 30'000);
  book.pass(minutes(30));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {1}}));
  EXPECT_EQ(book.purse().spent, 30'000 + 40'000);
}

TEST_F(Ending, AMinimumTermLongerThanTheLeaseIsSetAsideWhole) {
  const ContractId id = book.active(k_buyer, 1, offer_with_term(hours(10)));
  EXPECT_EQ(book.purse().reserved, 600'000);
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_EQ(book.purse(), (Purse{{}, 0, 600'000}));
}

TEST_F(Ending, AProvidersNoticeWaivesTheMinimumTerm) {
  const OfferId offer = offer_with_term(minutes(30));
  const ContractId leaves = book.active(k_buyer, 1, offer);
  const ContractId stays = book.active(k_buyer, 1, offer);
  book.pass(minutes(5));
  ASSERT_TRUE(book.run(GiveNotice{k_seller, leaves}));
  ASSERT_TRUE(book.run(GiveNotice{k_seller, stays}));
  book.pass(minutes(2));
  ASSERT_TRUE(book.run(Release{k_buyer, leaves, {}}));
  EXPECT_EQ(book.contract(leaves).units[0].charged, 7'000);
  EXPECT_EQ(book.contract(leaves).reason, EndReason::noticed);
  book.pass(minutes(8));
  book.attend();
  EXPECT_EQ(book.contract(stays).state, ContractState::closed);
  EXPECT_EQ(book.contract(stays).units[0].charged, 15'000);
}

TEST_F(Ending, WhoLeftBeforeTheNoticePaysTheMinimumTerm) {
  const ContractId id = book.active(k_buyer, 2, offer_with_term(minutes(30)));
  book.pass(minutes(5));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {0}}));
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id}));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {1}}));
  EXPECT_EQ(book.contract(id).units[0].charged, 30'000);
  EXPECT_EQ(book.contract(id).units[1].charged, 5'000);
}

TEST_F(Ending, NoticeGivesTheBuyerItsTime) {
  const ContractId id = book.active(k_buyer, 2);
  book.pass(minutes(1));
  const auto answer = book.run(GiveNotice{k_seller, id});
  ASSERT_TRUE(answer);
  EXPECT_EQ(book.contract(id).state, ContractState::closing);
  EXPECT_EQ(book.contract(id).reason, EndReason::noticed);
  EXPECT_EQ(book.contract(id).deadline, book.now + minutes(10));
  EXPECT_EQ(book.sold(), 2) << "capacity goes back when it is over";
  book.pass(minutes(10) - milliseconds(1));
  book.attend();
  EXPECT_EQ(book.contract(id).state, ContractState::closing);
  book.pass(milliseconds(1));
  book.attend();
  EXPECT_EQ(book.contract(id).state, ContractState::closed);
  EXPECT_EQ(book.purse().spent, 22'000);
  expect_nothing_held();
}

TEST_F(Ending, ASecondNoticeMovesNothing) {
  const ContractId id = book.active(k_buyer, 1);
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id}));
  book.pass(minutes(5));
  const auto before = book.picture();
  EXPECT_TRUE(book.run(GiveNotice{k_seller, id}));
  EXPECT_EQ(book.picture(), before);
  book.pass(minutes(5));
  book.attend();
  const auto after = book.picture();
  EXPECT_TRUE(book.run(GiveNotice{k_seller, id}));
  EXPECT_EQ(book.picture(), after);
}

TEST_F(Ending, NoticeOnAHoldEndsItAtOnce) {
  const ContractId id = book.held(k_buyer, 2);
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id}));
  EXPECT_EQ(book.contract(id).state, ContractState::closed);
  EXPECT_EQ(book.contract(id).reason, EndReason::noticed);
  expect_nothing_held();
}

// Lapses at 60 minutes, drains for one.
TEST_F(Ending, ALeaseThatIsNotRenewedLapsesDrainsAndCloses) {
  const ContractId id = book.active(k_buyer, 2);
  book.pass(hours(1) - milliseconds(1));
  book.attend();
  EXPECT_EQ(book.contract(id).state, ContractState::active);
  book.pass(milliseconds(1));
  book.attend();
  EXPECT_EQ(book.contract(id).state, ContractState::closing);
  EXPECT_EQ(book.contract(id).reason, EndReason::lapsed);
  EXPECT_EQ(book.contract(id).deadline, book.now + minutes(1));
  book.pass(minutes(1));
  book.attend();
  EXPECT_EQ(book.contract(id).state, ContractState::closed);
  EXPECT_EQ(book.contract(id).reason, EndReason::lapsed);
  EXPECT_EQ(book.purse().spent, 2 * 61'000);
  expect_nothing_held();
}

TEST_F(Ending, ALapsedLeaseOwesTheMinimumTerm) {
  const ContractId id = book.active(k_buyer, 1, offer_with_term(hours(2)));
  book.pass(hours(1));
  book.attend();
  book.pass(minutes(1));
  book.attend();
  EXPECT_EQ(book.contract(id).units[0].charged, 120'000);
}

TEST_F(Ending, ABrokerThatClosesLateDoesNotMakeTheBuyerPayForIt) {
  const ContractId id = book.active(k_buyer, 1);
  book.pass(minutes(5));
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id}));
  book.pass(minutes(40));  // over after ten, but nobody attends
  book.attend();
  EXPECT_EQ(book.contract(id).units[0].charged, 15'000);
}

// The lease ended at 60 minutes, its drain at 61.
TEST_F(Ending, ALateReleaseIsPaidForToTheEndOfTheDrain) {
  const ContractId id = book.active(k_buyer, 1);
  book.pass(hours(100));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_EQ(book.contract(id).reason, EndReason::lapsed);
  EXPECT_EQ(book.purse(), (Purse{{}, 0, 61'000}));
}

TEST_F(Ending, NobodyIsEverChargedMoreThanWasSetAside) {
  const model::Contract contract = book.contract(book.active(k_buyer, 1));
  const Instant late = book.now + hours(100);
  EXPECT_EQ(charge_of(contract, contract.units[0], EndReason::released, late).total(), k_set_aside);
}

// Pay per use, of which nothing was metered: the unit's own rate, 40,000 an hour.
TEST_F(Ending, PayPerUseChargesTheUnitRateAndSetsAsideTheWholeShape) {
  model::Offer offer = minute_offer("metered");
  offer.price.basis = model::PriceBasis::pay_per_use;
  ASSERT_TRUE(book.publish(offer));
  const ContractId id = book.active(k_buyer, 1, offer.id);
  EXPECT_EQ(book.purse().reserved, k_set_aside);
  book.pass(minutes(30));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_EQ(book.purse(), (Purse{{}, 0, 20'000}));
}

TEST_F(Ending, AttendingEarlyOrTwiceChangesNothing) {
  const ContractId id = book.active(k_buyer, 1);
  auto before = book.picture();
  ASSERT_TRUE(book.run(Attend{key_of(id)}));
  EXPECT_EQ(book.picture(), before);
  book.pass(hours(1));
  ASSERT_TRUE(book.run(Attend{key_of(id)}));
  before = book.picture();
  ASSERT_TRUE(book.run(Attend{key_of(id)}));
  EXPECT_EQ(book.picture(), before);
  book.pass(minutes(1));
  ASSERT_TRUE(book.run(Attend{key_of(id)}));
  before = book.picture();
  ASSERT_TRUE(book.run(Attend{key_of(id)}));
  EXPECT_EQ(book.picture(), before);
}

TEST_F(Ending, WhatIsGivenBackCanBeSoldAtOnce) {
  const ContractId id = book.active(k_buyer, 6);
  EXPECT_TRUE(is_refused(book.hold(k_rival, 1), Code::taken));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {4, 5}}));
  EXPECT_TRUE(book.hold(k_rival, 2));
  EXPECT_TRUE(is_refused(book.hold(k_rival, 1), Code::taken));
}

}  // namespace
}  // namespace spillway::market
