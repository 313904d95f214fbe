// The life of a contract between hold and closing.
#include <gtest/gtest.h>

#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;
using model::ContractState;

class Lease : public testing::Test {
 protected:
  void SetUp() override { book.open_market(3); }
  TestBook book;
};

TEST_F(Lease, ConfirmingStartsLeaseAndMoney) {
  const ContractId id = book.held(k_buyer, 2);
  book.pass(minutes(4));
  const auto answer = book.run(Confirm{k_buyer, id});
  ASSERT_TRUE(answer);
  const model::Contract& contract = book.contract(id);
  EXPECT_EQ(*answer->contract, contract);
  EXPECT_EQ(contract.state, ContractState::active);
  EXPECT_EQ(contract.started, book.now);
  EXPECT_EQ(contract.deadline, book.now + hours(1));
  EXPECT_EQ(book.account().open_holds, 0);
  EXPECT_EQ(book.account().units, 2);
  EXPECT_EQ(book.purse(), (Purse{{}, 2 * k_set_aside, 0}));
  EXPECT_EQ(book.sold(), 2);
}

TEST_F(Lease, ConfirmingTwiceChangesNothing) {
  const ContractId id = book.active(k_buyer, 1);
  book.pass(minutes(1));
  const auto before = book.picture();
  const auto again = book.run(Confirm{k_buyer, id});
  ASSERT_TRUE(again);
  EXPECT_EQ(*again->contract, book.contract(id));
  EXPECT_EQ(book.picture(), before);
}

TEST_F(Lease, AHoldIsConfirmedBeforeItsEndAndNotAtIt) {
  const ContractId early = book.held(k_buyer, 1);
  const ContractId late = book.held(k_buyer, 1);
  book.pass(minutes(5) - milliseconds(1));
  EXPECT_TRUE(book.run(Confirm{k_buyer, early}));
  book.pass(milliseconds(1));
  EXPECT_TRUE(is_refused(book.run(Confirm{k_buyer, late}), Code::gone))
      << "also before it is collected";
  book.attend();
  EXPECT_TRUE(is_refused(book.run(Confirm{k_buyer, late}), Code::gone));
}

TEST_F(Lease, ExtendingMovesTheEndOfAHold) {
  const ContractId id = book.held(k_buyer, 1);
  book.pass(minutes(4));
  ASSERT_TRUE(book.run(Extend{k_buyer, id, minutes(10)}));
  EXPECT_EQ(book.contract(id).deadline, book.now + minutes(10));
  book.pass(minutes(9));
  book.attend();
  EXPECT_TRUE(book.run(Confirm{k_buyer, id}));
}

TEST_F(Lease, ExtendingNeverShortens) {
  const ContractId id = book.held(k_buyer, 1);
  const auto before = book.picture();
  EXPECT_TRUE(book.run(Extend{k_buyer, id, minutes(1)}));
  EXPECT_EQ(book.picture(), before);
}

TEST_F(Lease, AHoldIsNotExtendedBeyondTheCap) {
  const ContractId id = book.held(k_buyer, 1);
  const Instant created = book.now;
  while (book.now + minutes(4) + minutes(5) <= created + book.rules.max_hold_total) {
    book.pass(minutes(4));
    ASSERT_TRUE(book.run(Extend{k_buyer, id, minutes(5)}));
  }
  book.pass(minutes(4));
  const auto before = book.picture();
  EXPECT_TRUE(is_refused(book.run(Extend{k_buyer, id, minutes(9)}), Code::conflict));
  EXPECT_EQ(book.picture(), before);
  const Duration left = created + book.rules.max_hold_total - book.now;
  EXPECT_TRUE(book.run(Extend{k_buyer, id, left})) << "up to the cap itself";
}

TEST_F(Lease, WhatHasEndedIsNotExtended) {
  const ContractId id = book.held(k_buyer, 1);
  book.pass(minutes(5));
  EXPECT_TRUE(is_refused(book.run(Extend{k_buyer, id, minutes(5)}), Code::gone));
  book.attend();
  EXPECT_TRUE(is_refused(book.run(Extend{k_buyer, id, minutes(5)}), Code::gone));
}

TEST_F(Lease, OnlyAHoldIsExtendedAndOnlyAnActiveOneRenewed) {
  const ContractId hold = book.held(k_buyer, 1);
  const ContractId active = book.active(k_buyer, 1);
  EXPECT_TRUE(is_refused(book.run(Renew{k_buyer, hold}), Code::conflict));
  EXPECT_TRUE(is_refused(book.run(Extend{k_buyer, active, minutes(5)}), Code::conflict));
}

TEST_F(Lease, RenewingBeginsTheLeaseAnew) {
  const ContractId id = book.active(k_buyer, 1);
  book.pass(minutes(59));
  ASSERT_TRUE(book.run(Renew{k_buyer, id}));
  EXPECT_EQ(book.contract(id).deadline, book.now + hours(1));
  book.pass(minutes(59));
  book.attend();
  EXPECT_EQ(book.contract(id).state, ContractState::active);
}

TEST_F(Lease, RenewingTwiceAtOnceSetsAsideOnce) {
  const ContractId id = book.active(k_buyer, 1);
  book.pass(minutes(30));
  ASSERT_TRUE(book.run(Renew{k_buyer, id}));
  const auto before = book.picture();
  ASSERT_TRUE(book.run(Renew{k_buyer, id}));
  EXPECT_EQ(book.picture(), before);
  EXPECT_EQ(book.purse().reserved, 115'000);
}

TEST_F(Lease, ALeaseIsRenewedBeforeItsEndAndNotAtIt) {
  const ContractId id = book.active(k_buyer, 1);
  book.pass(hours(1));
  EXPECT_TRUE(is_refused(book.run(Renew{k_buyer, id}), Code::gone));
}

TEST_F(Lease, WhatIsClosingOrClosedIsNeitherConfirmedNorRenewed) {
  const ContractId id = book.active(k_buyer, 1);
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id}));
  EXPECT_TRUE(is_refused(book.run(Renew{k_buyer, id}), Code::gone));
  EXPECT_TRUE(is_refused(book.run(Confirm{k_buyer, id}), Code::gone));
  EXPECT_TRUE(is_refused(book.run(Extend{k_buyer, id, minutes(1)}), Code::gone));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_TRUE(is_refused(book.run(Renew{k_buyer, id}), Code::gone));
}

TEST_F(Lease, BothPartiesMayLookAndItChangesNothing) {
  const ContractId id = book.active(k_buyer, 1);
  const auto before = book.picture();
  const auto by_buyer = book.run(Look{k_buyer, id});
  const auto by_seller = book.run(Look{k_seller, id});
  ASSERT_TRUE(by_buyer && by_seller);
  EXPECT_EQ(*by_buyer->contract, book.contract(id));
  EXPECT_EQ(*by_seller->contract, book.contract(id));
  EXPECT_EQ(book.picture(), before);
}

}  // namespace
}  // namespace spillway::market
