// How a lease ends well: it is said in time, what is closing is drained, and there is a point that
// everybody knows.
#include <gtest/gtest.h>

#include "market/outage.h"
#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;
using model::ContractState;

class LeaseEnd : public testing::Test {
 protected:
  void SetUp() override {
    book.run(Beat{}).value();
    book.open_market(4);
    id = book.active(k_buyer, 2);
  }
  int64_t endings() const { return book.count_events(EventKind::contract_ending); }
  const model::Contract& contract() const { return book.contract(id); }
  // Minute by minute, as a broker does that is there.
  void pass_minutes(int count) {
    for (int i = 0; i < count; ++i) {
      book.pass(minutes(1));
      book.attend();
    }
  }
  std::string last_detail(EventKind kind) const {
    std::string detail;
    for (const Event& event : book.rows().events()) {
      if (event.kind == kind) detail = event.detail;
    }
    return detail;
  }

  TestBook book;  // a lease of an hour, 15 minutes of grace, one to drain
  ContractId id;
};

TEST_F(LeaseEnd, IsSaidOnceAtEachDistanceWhenNobodyRenews) {
  pass_minutes(44);
  EXPECT_EQ(endings(), 0);
  pass_minutes(1);
  EXPECT_EQ(endings(), 1) << "a quarter of the lease is left";
  pass_minutes(8);
  EXPECT_EQ(endings(), 1);
  pass_minutes(1);
  EXPECT_EQ(endings(), 2) << "a tenth";
  pass_minutes(5);
  EXPECT_EQ(endings(), 3) << "a fiftieth";
  pass_minutes(5);
  EXPECT_EQ(endings(), 3);
  EXPECT_EQ(contract().state, ContractState::closed);
}

TEST_F(LeaseEnd, SaysNothingOfWhatIsRenewedInTime) {
  for (int i = 0; i < 10; ++i) {
    pass_minutes(30);
    ASSERT_TRUE(book.run(Renew{k_buyer, id}));
  }
  EXPECT_EQ(endings(), 0);
}

TEST_F(LeaseEnd, IsSaidAnewForEveryLease) {
  pass_minutes(50);
  ASSERT_EQ(endings(), 1);
  ASSERT_TRUE(book.run(Renew{k_buyer, id}));
  pass_minutes(44);
  EXPECT_EQ(endings(), 1);
  pass_minutes(1);
  EXPECT_EQ(endings(), 2);
}

TEST_F(LeaseEnd, AnOutageMovesWhatIsLeftToSayAndRepeatsNothing) {
  pass_minutes(46);
  ASSERT_EQ(endings(), 1);
  book.be_away(minutes(10));  // over the second distance, were the end not moved
  book.attend();
  EXPECT_EQ(endings(), 1) << "the end moved with it";
  pass_minutes(8);
  EXPECT_EQ(endings(), 2);
  pass_minutes(5);
  EXPECT_EQ(endings(), 3);
  EXPECT_EQ(contract().grace_used, minutes(10));
}

TEST_F(LeaseEnd, ABrokerThatWasAwayForLongSaysOnceWhatItMissed) {
  model::Offer offer = minute_offer("strict");
  offer.terms.grace = {};
  book.publish(offer).value();
  id = book.active(k_buyer, 1, offer.id);
  book.be_away(minutes(55));
  book.attend();
  EXPECT_EQ(endings(), 1);
  book.attend();
  EXPECT_EQ(endings(), 1);
}

TEST_F(LeaseEnd, DistancesMayBeTimesAndThoseBeyondTheLeaseAreNeverReached) {
  book.rules.ending_notices = {{.time = minutes(20)}, {.time = hours(2)}};
  ASSERT_TRUE(book.run(Renew{k_buyer, id}));
  pass_minutes(39);
  EXPECT_EQ(endings(), 0);
  pass_minutes(1);
  EXPECT_EQ(endings(), 1);
  pass_minutes(19);
  EXPECT_EQ(endings(), 1);
}

TEST_F(LeaseEnd, DrainedClosesAtOnceAndStopsTheMoney) {
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id}));
  book.pass(minutes(3));
  const auto answer = book.run(Drained{k_buyer, id});
  ASSERT_TRUE(answer);
  EXPECT_EQ(contract().state, ContractState::closed);
  EXPECT_EQ(contract().reason, model::EndReason::noticed);
  EXPECT_EQ(book.purse().spent, 2 * 3 * k_micros_per_minute);
  EXPECT_EQ(book.purse().reserved, 0);
  EXPECT_EQ(book.sold(), 0);
  EXPECT_EQ(book.count_events(EventKind::contract_drained), 1);
  const auto before = book.picture();
  EXPECT_TRUE(book.run(Drained{k_buyer, id})) << "its answer was lost";
  EXPECT_EQ(book.picture(), before);
}

TEST_F(LeaseEnd, GivingTheLastUnitBackWhileClosingIsTheSame) {
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id}));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {0}}));
  EXPECT_EQ(book.count_events(EventKind::contract_drained), 0);
  ASSERT_TRUE(book.run(Release{k_buyer, id, {1}}));
  EXPECT_EQ(book.count_events(EventKind::contract_drained), 1);
  EXPECT_EQ(contract().state, ContractState::closed);
}

TEST_F(LeaseEnd, WhatNobodyDrainsClosesAtItsDeadlineAndSaysSo) {
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id}));
  pass_minutes(10);
  EXPECT_EQ(contract().state, ContractState::closed);
  EXPECT_EQ(book.count_events(EventKind::contract_drained), 0);
  EXPECT_NE(last_detail(EventKind::contract_closed).find("nobody said it was drained"),
            std::string::npos);
}

TEST_F(LeaseEnd, TheProviderMaySayItOfWhatItEndedAndNobodyElse) {
  EXPECT_TRUE(is_refused(book.run(Drained{k_buyer, id}), Code::conflict));
  EXPECT_TRUE(is_refused(book.run(Drained{k_seller, id}), Code::conflict)) << "notice comes first";
  EXPECT_TRUE(is_refused(book.run(Drained{k_rival, id}), Code::not_found));
  EXPECT_TRUE(is_refused(book.run(Drained{k_buyer, book.held(k_buyer, 1)}), Code::conflict));
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id}));
  EXPECT_TRUE(is_refused(book.run(Drained{k_rival, id}), Code::not_found));
  EXPECT_TRUE(book.run(Drained{k_seller, id}));
  EXPECT_EQ(contract().state, ContractState::closed);
}

TEST_F(LeaseEnd, ABuyerThatVanishedLosesWhatItDoesNotPayFor) {
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id}));
  const Instant point = ends_no_later_than(contract());
  EXPECT_EQ(point, book.now + minutes(10)) << "what was said is not moved";
  pass_minutes(10);
  EXPECT_EQ(book.sold(), 0) << "the capacity is back at the stated point";
  EXPECT_EQ(book.now, point);
}

TEST_F(LeaseEnd, TheStatedPointIsTheLatestThatAnOutageCanMakeOfIt) {
  const Instant point = ends_no_later_than(contract());
  EXPECT_EQ(point, contract().deadline + minutes(16));
  book.be_away(minutes(59));
  book.attend();
  EXPECT_EQ(ends_no_later_than(contract()), point) << "what is used of the grace is not left";
  while (contract().is_live()) pass_minutes(1);
  EXPECT_LE(book.now, point);
}

}  // namespace
}  // namespace spillway::market
