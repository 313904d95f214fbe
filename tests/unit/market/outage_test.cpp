// Law 4, Calm: an outage of the brokers moves deadlines, up to the grace in the contract; after it
// nothing is sold until the providers have confirmed what they carry.
#include <gtest/gtest.h>

#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;
using model::ContractState;

// The grace is 15 minutes, the lease an hour.
class Outage : public testing::Test {
 protected:
  void SetUp() override {
    book.run(Beat{}).value();
    book.open_market(4);
    first = epoch();
  }
  const EpochRecord& epoch() { return *book.get<EpochRecord>(epoch_key()); }
  // How long after its beginning `id` lapses, in minutes, when the market is in order from now on.
  int64_t lapses_after(const ContractId& id) {
    const Instant start = *book.contract(id).started;
    while (book.contract(id).state == ContractState::active) {
      book.attend();
      if (book.contract(id).state != ContractState::active) break;
      book.pass(minutes(1));
    }
    return (book.now - start).ms / 60'000;
  }

  void expect_lost(Duration lost) {
    EXPECT_GT(epoch().epoch, first.epoch);
    EXPECT_EQ(epoch().lost, lost);
  }

  TestBook book;
  EpochRecord first;
};

TEST_F(Outage, AShortSilenceIsNone) {
  book.be_away(book.rules.outage_after);
  EXPECT_EQ(epoch(), first);
  book.be_away(book.rules.outage_after + milliseconds(1));
  expect_lost(book.rules.outage_after + milliseconds(1));
  EXPECT_EQ(book.count_events(EventKind::outage_recorded), 1);
}

TEST_F(Outage, RegularBeatsRecordNothing) {
  for (int i = 0; i < 100; ++i) book.be_away(seconds(1));
  EXPECT_EQ(epoch(), first);
}

TEST_F(Outage, TwoBrokersThatComeBackRecordItOnce) {
  book.be_away(minutes(5));
  ASSERT_TRUE(book.run(Beat{}));
  expect_lost(minutes(5));
}

TEST_F(Outage, LeasesMoveByWhatWasLost) {
  const ContractId id = book.active(k_buyer, 1);
  book.be_away(minutes(10));
  EXPECT_EQ(lapses_after(id), 70);
}

TEST_F(Outage, LeasesMoveAtMostByTheirGrace) {
  const ContractId id = book.active(k_buyer, 1);
  book.be_away(minutes(40));
  EXPECT_EQ(lapses_after(id), 75);
}

TEST_F(Outage, SeveralOutagesAddUpToAtMostTheGrace) {
  const ContractId id = book.active(k_buyer, 1);
  for (int i = 0; i < 4; ++i) {
    book.pass(minutes(1));
    book.be_away(minutes(5));
  }
  EXPECT_EQ(lapses_after(id), 75);
}

// The second outage comes after the first one was applied.
TEST_F(Outage, OutagesBeforeAndAfterTheDeadlineWasMovedAddUpTheSame) {
  const ContractId id = book.active(k_buyer, 1);
  book.be_away(minutes(10));
  book.pass(minutes(50));
  book.attend();
  EXPECT_EQ(book.contract(id).grace_used, minutes(10));
  EXPECT_EQ(book.count_events(EventKind::contract_moved), 1);
  book.be_away(minutes(10));
  EXPECT_EQ(lapses_after(id), 75);
  EXPECT_EQ(book.contract(id).state, ContractState::closing);
}

TEST_F(Outage, OneOutageMovesADeadlineOnce) {
  const ContractId id = book.active(k_buyer, 1);
  book.be_away(minutes(10));
  book.pass(minutes(50));
  book.attend();
  const auto before = book.picture();
  ASSERT_TRUE(book.run(Attend{key_of(id)}));
  EXPECT_EQ(book.picture(), before);
  EXPECT_EQ(lapses_after(id), 70);
}

TEST_F(Outage, OutagesFromBeforeTheContractDoNotCount) {
  book.be_away(minutes(10));
  ASSERT_TRUE(book.publish(pool_of(4)));
  const ContractId id = book.active(k_buyer, 1);
  EXPECT_EQ(lapses_after(id), 60);
}

TEST_F(Outage, OutagesFromBeforeTheRenewalDoNotCount) {
  const ContractId id = book.active(k_buyer, 1);
  book.be_away(minutes(10));
  ASSERT_TRUE(book.run(Renew{k_buyer, id}));
  EXPECT_EQ(lapses_after(id), 70);  // ten minutes after the start it was renewed for 60
}

TEST_F(Outage, WhoComesBackWithinTheMovedDeadlineIsRenewed) {
  const ContractId id = book.active(k_buyer, 1);
  book.pass(minutes(55));
  book.be_away(minutes(10));  // the lease would have ended meanwhile
  EXPECT_TRUE(book.run(Renew{k_buyer, id}));
}

TEST_F(Outage, WhoComesBackAfterTheGraceIsNot) {
  const ContractId id = book.active(k_buyer, 1);
  book.pass(minutes(55));
  book.be_away(minutes(20));
  EXPECT_TRUE(is_refused(book.run(Renew{k_buyer, id}), Code::gone));
}

TEST_F(Outage, HoldsMoveToo) {
  const ContractId id = book.held(k_buyer, 1);
  const ContractId other = book.held(k_buyer, 1);
  book.pass(minutes(4));
  book.be_away(minutes(10));
  book.attend();
  EXPECT_EQ(book.contract(id).state, ContractState::hold);
  ASSERT_TRUE(book.run(Confirm{k_buyer, id}));
  book.pass(minutes(1));
  book.attend();
  EXPECT_EQ(book.contract(other).state, ContractState::closed);
}

TEST_F(Outage, WhatIsClosingEndsWhenItWasSaidToEnd) {
  const ContractId id = book.active(k_buyer, 1);
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id}));
  book.be_away(minutes(10));
  book.attend();
  EXPECT_EQ(book.contract(id).state, ContractState::closed);
  EXPECT_EQ(book.purse().spent, 10'000);
}

TEST_F(Outage, ABuyersOwnSilenceMovesNothing) {
  const ContractId id = book.active(k_buyer, 1);
  for (int i = 0; i < 60 * 12; ++i) {
    book.pass(seconds(5));
    book.run(Beat{}).value();
    book.attend();
  }
  EXPECT_EQ(book.contract(id).state, ContractState::closing);
}

TEST_F(Outage, TheLongestOutageStillFitsWhatWasSetAside) {
  const ContractId id = book.active(k_buyer, 1);
  book.pass(minutes(59));
  book.be_away(minutes(14));
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id}));
  book.pass(minutes(10));
  book.attend();
  EXPECT_EQ(book.purse(), (Purse{{}, 0, 83'000}));  // 59 + 14 + 10 minutes, of 85 at most
}

TEST_F(Outage, PoolsSellOnlyOnceTheirProviderHasConfirmed) {
  book.be_away(minutes(1));
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::taken));
  const int64_t sequence = book.pool().sequence;
  const int64_t report = book.pool().report + 1;
  ASSERT_TRUE(
      book.run(PublishPool{k_seller, pool_of(4), sequence, hours(1), {}, book.epoch(), report}));
  EXPECT_TRUE(book.hold(k_buyer, 1));
}

TEST_F(Outage, EveryOutageWantsANewConfirmation) {
  book.be_away(minutes(1));
  ASSERT_TRUE(book.publish(pool_of(4)));
  book.be_away(minutes(1));
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::taken));
}

TEST_F(Outage, WhatIsHeldCanBeConfirmedAndGivenBackMeanwhile) {
  const ContractId hold = book.held(k_buyer, 1);
  const ContractId active = book.active(k_buyer, 1);
  book.be_away(minutes(1));
  EXPECT_TRUE(book.run(Confirm{k_buyer, hold}));
  EXPECT_TRUE(book.run(Renew{k_buyer, active}));
  EXPECT_TRUE(book.run(Release{k_buyer, active, {}}));
}

TEST_F(Outage, AReplayNeedsNoConfirmation) {
  const Hold hold = book.hold_of(k_buyer, {{minute_offer().id, 1, 1}});
  const auto granted = book.run(hold);
  book.be_away(minutes(1));
  const auto again = book.run(hold);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->grants, granted->grants);
}

// The lease of an hour ended with its grace at 75 minutes, its drain of one at 76: nobody pays for
// what the broker slept through, whoever comes first when it is back.
class BackLate : public Outage {
 protected:
  void SetUp() override {
    Outage::SetUp();
    id = book.active(k_buyer, 2);
    book.be_away(hours(5));
  }
  void expect_lapsed() {
    EXPECT_EQ(book.contract(id).state, ContractState::closed);
    EXPECT_EQ(book.contract(id).reason, model::EndReason::lapsed);
    EXPECT_EQ(book.contract(id).units[0].ended, *book.contract(id).started + minutes(76));
    EXPECT_EQ(book.purse().spent, 2 * 76'000);
    EXPECT_EQ(book.count_events(EventKind::contract_closing), 1);
    EXPECT_EQ(book.count_events(EventKind::contract_closed), 1);
  }

  ContractId id;
};

TEST_F(BackLate, TheBrokerEndsWhatLapsedMeanwhile) {
  book.attend();
  expect_lapsed();
}

TEST_F(BackLate, AProvidersNoticeComesTooLate) {
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id}));
  expect_lapsed();
}

TEST_F(BackLate, ABuyersReleaseComesTooLate) {
  ASSERT_TRUE(book.run(Release{k_buyer, id, {1}}));
  expect_lapsed();
}

TEST_F(BackLate, WhatIsDrainedHasEnded) {
  ASSERT_TRUE(book.run(Drained{k_buyer, id, {}}));
  expect_lapsed();
}

TEST_F(BackLate, AnOversoldPoolTakesNothingBackThatHasLapsed) {
  ASSERT_TRUE(book.publish(pool_of(1)));
  book.pass(book.rules.reclaim_after);
  ASSERT_TRUE(book.run(Attend{key_of(pool_of(1).id)}));
  expect_lapsed();
}

// In the middle of its drain what is left of it is left.
TEST_F(Outage, ADrainRunsFromTheEndOfTheLease) {
  const ContractId id = book.active(k_buyer, 1);
  book.be_away(minutes(75) + seconds(20));
  book.attend();
  EXPECT_EQ(book.contract(id).state, ContractState::closing);
  EXPECT_EQ(book.contract(id).deadline, book.now + seconds(40));
}

}  // namespace
}  // namespace spillway::market
