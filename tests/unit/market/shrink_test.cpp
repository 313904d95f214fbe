// A provider that shrinks below what it sold is believed; then someone has to leave. And what a
// provider carries without the book's knowledge is not sold again.
#include <gtest/gtest.h>

#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;
using model::ContractState;
using model::EndReason;
using test::plain_shape;

class Shrink : public testing::Test {
 protected:
  void SetUp() override {
    book.run(Beat{}).value();
    book.open_market(4);
  }
  // The time in which a provider is to give notice itself is over.
  void let_the_book_act() {
    book.pass(book.rules.reclaim_after);
    book.attend();
  }
  ContractState state(const ContractId& id) { return book.contract(id).state; }

  TestBook book;
};

TEST_F(Shrink, IsBelievedAndShown) {
  const ContractId id = book.active(k_buyer, 3);
  ASSERT_TRUE(book.publish(pool_of(2)));
  EXPECT_EQ(book.pool().pool.capacity, plain_shape().times(2));
  EXPECT_EQ(book.pool().oversold_since, book.now);
  EXPECT_EQ(book.pool().reclaim_at, book.now + book.rules.reclaim_after);
  EXPECT_EQ(book.count_events(EventKind::pool_oversold), 1);
  EXPECT_EQ(state(id), ContractState::active);
  EXPECT_EQ(book.sold(), 3);
}

TEST_F(Shrink, TheLogSaysWhatIsShort) {
  model::Offer offer = minute_offer("fpga");
  offer.shape.extended = {{"example.com/a-resource-with-quite-a-long-name", 1}};
  model::Pool pool = pool_of(4);
  pool.node.extended = pool.capacity.extended = offer.shape.extended;
  ASSERT_TRUE(book.publish(pool));
  ASSERT_TRUE(book.publish(offer));
  book.active(k_buyer, 1, offer.id);
  pool.capacity.extended.clear();
  ASSERT_TRUE(book.publish(pool));
  EXPECT_NE(
      book.rows().events().back().detail.find("example.com/a-resource-with-quite-a-long-name"),
      std::string::npos);
}

TEST_F(Shrink, NothingIsSoldWhileAnyResourceIsShort) {
  book.active(k_buyer, 3);
  model::Pool pool = pool_of(4);
  pool.capacity.memory_bytes = plain_shape().memory_bytes * 3 - 1;  // cpu and pods would do
  ASSERT_TRUE(book.publish(pool));
  EXPECT_TRUE(is_refused(book.hold(k_rival, 1), Code::taken));
}

TEST_F(Shrink, GrowthMends) {
  book.active(k_buyer, 3);
  ASSERT_TRUE(book.publish(pool_of(2)));
  ASSERT_TRUE(book.publish(pool_of(4)));
  EXPECT_FALSE(book.pool().oversold_since);
  EXPECT_FALSE(book.pool().reclaim_at);
  EXPECT_EQ(book.count_events(EventKind::pool_covered), 1);
  let_the_book_act();
  EXPECT_EQ(book.sold(), 3);
  EXPECT_TRUE(book.hold(k_rival, 1));
}

TEST_F(Shrink, ARemainderIsSoldWhenItMendsExactly) {
  book.active(k_buyer, 3);
  ASSERT_TRUE(book.publish(pool_of(2)));
  ASSERT_TRUE(book.publish(pool_of(3)));
  EXPECT_FALSE(book.pool().oversold_since);
  EXPECT_TRUE(is_refused(book.hold(k_rival, 1), Code::taken));
}

TEST_F(Shrink, AReleaseMends) {
  const ContractId id = book.active(k_buyer, 3);
  ASSERT_TRUE(book.publish(pool_of(2)));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {0}}));
  EXPECT_FALSE(book.pool().oversold_since);
  let_the_book_act();
  EXPECT_EQ(book.contract(id).live_units(), 2);
}

TEST_F(Shrink, PublishingAgainDoesNotBuyTheProviderTime) {
  book.active(k_buyer, 3);
  ASSERT_TRUE(book.publish(pool_of(2)));
  const auto reclaim_at = book.pool().reclaim_at;
  book.pass(minutes(1));
  ASSERT_TRUE(book.publish(pool_of(1)));
  EXPECT_EQ(book.pool().reclaim_at, reclaim_at);
}

TEST_F(Shrink, TheBookWaitsForTheProviderFirst) {
  const ContractId id = book.active(k_buyer, 3);
  ASSERT_TRUE(book.publish(pool_of(2)));
  book.pass(book.rules.reclaim_after - milliseconds(1));
  book.attend();
  EXPECT_EQ(state(id), ContractState::active);
  book.pass(milliseconds(1));
  book.attend();
  EXPECT_EQ(state(id), ContractState::closing);
  EXPECT_EQ(book.contract(id).reason, EndReason::reclaimed);
  EXPECT_EQ(book.contract(id).deadline, book.now + minutes(10)) << "the buyer has its notice";
}

TEST_F(Shrink, HoldsGoFirstThenTheYoungestContracts) {
  const ContractId first = book.active(k_buyer, 1);
  book.pass(seconds(1));
  const ContractId hold = book.held(k_rival, 1);
  book.pass(seconds(1));
  const ContractId second = book.active(k_buyer, 1);
  book.pass(seconds(1));
  const ContractId third = book.active(k_rival, 1);

  ASSERT_TRUE(book.publish(pool_of(3)));
  let_the_book_act();
  EXPECT_EQ(state(hold), ContractState::closed) << "a hold has nothing to drain";
  EXPECT_EQ(book.contract(hold).reason, EndReason::reclaimed);
  EXPECT_EQ(state(first), ContractState::active);
  EXPECT_EQ(state(second), ContractState::active);
  EXPECT_EQ(state(third), ContractState::active);
  EXPECT_FALSE(book.pool().oversold_since);

  ASSERT_TRUE(book.publish(pool_of(1)));
  let_the_book_act();
  EXPECT_EQ(state(first), ContractState::active);
  EXPECT_EQ(state(second), ContractState::closing);
  EXPECT_EQ(state(third), ContractState::closing);
}

TEST_F(Shrink, AsFewAsNeedToLeave) {
  const ContractId first = book.active(k_buyer, 2);
  book.pass(seconds(1));
  const ContractId second = book.active(k_rival, 2);
  ASSERT_TRUE(book.publish(pool_of(2)));
  let_the_book_act();
  EXPECT_EQ(state(first), ContractState::active);
  EXPECT_EQ(state(second), ContractState::closing);
}

TEST_F(Shrink, WhatTheProviderGaveNoticeToCountsAsGone) {
  const ContractId first = book.active(k_buyer, 1);
  book.pass(seconds(1));
  const ContractId second = book.active(k_rival, 1);
  ASSERT_TRUE(book.publish(pool_of(1)));
  ASSERT_TRUE(book.run(GiveNotice{k_seller, first}));
  let_the_book_act();
  EXPECT_EQ(state(second), ContractState::active);
  book.pass(minutes(10));
  book.attend();
  EXPECT_EQ(state(first), ContractState::closed);
  EXPECT_EQ(state(second), ContractState::active);
  EXPECT_FALSE(book.pool().oversold_since);
}

TEST_F(Shrink, WhoDoesNotUseWhatIsShortStays) {
  model::Offer gpu = minute_offer("gpu");
  gpu.shape.gpus = {{"nvidia-a100", 1}};
  model::Pool pool = pool_of(4);
  pool.node.gpus = pool.capacity.gpus = {{"nvidia-a100", 2}};
  ASSERT_TRUE(book.publish(pool));
  ASSERT_TRUE(book.publish(gpu));
  const ContractId old = book.active(k_buyer, 2, gpu.id);
  book.pass(seconds(1));
  const ContractId young = book.active(k_rival, 1);
  const ContractId hold = book.held(k_rival, 1);
  pool.capacity.gpus = {{"nvidia-a100", 1}};
  ASSERT_TRUE(book.publish(pool));
  let_the_book_act();
  EXPECT_EQ(state(old), ContractState::closing);
  EXPECT_EQ(state(young), ContractState::active);
  EXPECT_EQ(state(hold), ContractState::hold);
}

TEST_F(Shrink, ShrinkingFurtherIsSeenAtTheNextLook) {
  const ContractId first = book.active(k_buyer, 1);
  book.pass(seconds(1));
  const ContractId second = book.active(k_rival, 1);
  ASSERT_TRUE(book.publish(pool_of(1)));
  let_the_book_act();
  EXPECT_EQ(state(first), ContractState::active);
  EXPECT_EQ(state(second), ContractState::closing);
  ASSERT_TRUE(book.publish(pool_of(0)));
  let_the_book_act();
  EXPECT_EQ(state(first), ContractState::closing);
}

TEST_F(Shrink, WhoIsReclaimedOwesNoMinimumTerm) {
  model::Offer offer = minute_offer("term");
  offer.price.minimum_term = hours(1);
  ASSERT_TRUE(book.publish(offer));
  const ContractId id = book.active(k_buyer, 4, offer.id);
  ASSERT_TRUE(book.publish(pool_of(3)));
  let_the_book_act();  // two minutes
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_EQ(book.purse(), (Purse{{}, 0, 8'000}));
}

TEST_F(Shrink, AttendingAPoolTwiceChangesNothingMore) {
  book.active(k_buyer, 1);
  book.active(k_rival, 1);
  ASSERT_TRUE(book.publish(pool_of(1)));
  let_the_book_act();
  const auto before = book.picture();
  ASSERT_TRUE(book.run(Attend{key_of(pool_of(1).id)}));
  EXPECT_EQ(book.picture(), before);
}

// --- what is carried without being accounted for ---

TEST_F(Shrink, WhatAProviderCarriesBeyondTheBookIsNotSold) {
  const ContractId id = book.active(k_buyer, 1);
  ASSERT_TRUE(book.publish(pool_of(4), {{id, 3, plain_shape()}}));
  EXPECT_EQ(book.pool().unaccounted, plain_shape().times(2));
  EXPECT_TRUE(is_refused(book.hold(k_rival, 2), Code::taken));
  EXPECT_TRUE(book.hold(k_rival, 1));
  EXPECT_FALSE(book.pool().oversold_since);
}

TEST_F(Shrink, WhatEndedInTheBookButIsStillInPlaceIsNotSold) {
  const ContractId id = book.active(k_buyer, 4);
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  ASSERT_TRUE(book.publish(pool_of(4), {{id, 4, {}}}));
  EXPECT_TRUE(is_refused(book.hold(k_rival, 1), Code::taken));
  ASSERT_TRUE(book.publish(pool_of(4)));
  EXPECT_TRUE(book.hold(k_rival, 4));
}

TEST_F(Shrink, WhatIsAccountedForIsNotSubtractedTwice) {
  const ContractId id = book.active(k_buyer, 3);
  ASSERT_TRUE(book.publish(pool_of(4), {{id, 3, plain_shape()}}));
  EXPECT_TRUE(book.pool().unaccounted.is_zero());
  EXPECT_TRUE(book.hold(k_rival, 1));
}

TEST_F(Shrink, CarryingMoreThanThereIsIsOversoldToo) {
  const ContractId id = book.active(k_buyer, 2);
  ASSERT_TRUE(book.publish(pool_of(2), {{book.fresh_id(), 1, plain_shape()}}));
  EXPECT_TRUE(book.pool().oversold_since);
  let_the_book_act();
  EXPECT_EQ(state(id), ContractState::closing);
}

// The book comes back as it was before the sale; the provider still runs what was sold.
TEST_F(Shrink, AfterARestoreFromAnOlderBackupNothingIsSoldTwice) {
  const TestBook backup = book;
  const ContractId lost = book.active(k_buyer, 3);

  TestBook restored = backup;
  restored.now = book.now + minutes(1);
  ASSERT_TRUE(restored.run(Beat{}));
  EXPECT_TRUE(is_refused(restored.hold(k_rival, 1), Code::taken)) << "nobody has confirmed yet";
  EXPECT_TRUE(is_refused(restored.run(Look{k_buyer, lost}), Code::not_found));

  const int64_t sequence = restored.pool().sequence;
  int64_t report = restored.pool().report;
  const auto confirm = [&](std::vector<Carried> carries) {
    return restored.run(PublishPool{k_seller, pool_of(4), sequence, hours(1), std::move(carries),
                                    restored.epoch(), ++report});
  };
  ASSERT_TRUE(confirm({{lost, 3, plain_shape()}}));
  EXPECT_TRUE(is_refused(restored.hold(k_rival, 2), Code::taken)) << "three of four are in use";
  EXPECT_TRUE(restored.hold(k_rival, 1));
  EXPECT_TRUE(is_refused(restored.hold(k_rival, 1), Code::taken));

  ASSERT_TRUE(confirm({{lost, 1, plain_shape()}})) << "the provider has taken down two";
  EXPECT_TRUE(restored.hold(k_rival, 2));
  EXPECT_TRUE(is_refused(restored.hold(k_rival, 1), Code::taken));
}

// In the backup the contract had three units, of which two were released and sold since.
TEST_F(Shrink, AfterARestoreWhatWasGivenBackSinceComesBackToo) {
  const ContractId old = book.active(k_buyer, 3);
  const TestBook backup = book;
  ASSERT_TRUE(book.run(Release{k_buyer, old, {1, 2}}));
  const ContractId since = book.active(k_rival, 2);

  TestBook restored = backup;
  restored.now = book.now + minutes(1);
  ASSERT_TRUE(restored.run(Beat{}));
  ASSERT_TRUE(restored.publish(pool_of(4), {{old, 1, plain_shape()}, {since, 2, plain_shape()}}));
  EXPECT_TRUE(restored.pool().oversold_since) << "three by the book, two more in place, of four";
  EXPECT_TRUE(is_refused(restored.hold(k_rival, 1), Code::taken));
  ASSERT_TRUE(restored.run(Release{k_buyer, old, {1, 2}})) << "the buyer's retry";
  EXPECT_FALSE(restored.pool().oversold_since);
  EXPECT_TRUE(restored.hold(k_buyer, 1));
  EXPECT_TRUE(is_refused(restored.hold(k_buyer, 1), Code::taken));
}

// Messages from before the restore are still on their way, and say that nothing is carried.
TEST_F(Shrink, AReportFromBeforeTheRestoreConfirmsNothing) {
  const TestBook backup = book;
  const int64_t old_epoch = book.epoch();
  book.active(k_buyer, 4);

  TestBook restored = backup;
  restored.now = book.now + minutes(1);
  ASSERT_TRUE(restored.run(Beat{}));
  const auto late = restored.run(
      PublishPool{k_seller, pool_of(4), restored.pool().sequence, hours(1), {}, old_epoch, 99});
  ASSERT_TRUE(late);
  EXPECT_EQ(late->epoch, restored.epoch()) << "the provider learns where to confirm";
  EXPECT_TRUE(is_refused(restored.hold(k_rival, 1), Code::taken));
}

TEST_F(Shrink, AnOvertakenReportChangesNothing) {
  const auto report = [&](int64_t number, std::vector<Carried> carries) {
    return book.run(PublishPool{k_seller, pool_of(4), book.pool().sequence, hours(1),
                                std::move(carries), book.epoch(), number});
  };
  ASSERT_TRUE(report(10, {{book.fresh_id(), 3, plain_shape()}}));
  ASSERT_TRUE(report(9, {}));
  EXPECT_EQ(book.pool().unaccounted, plain_shape().times(3));
}

// A backup may be so young that its silence is no outage.
TEST_F(Shrink, ABrokerThatStartsAloneBeginsAnEpoch) {
  ASSERT_TRUE(book.run(Beat{}));
  const int64_t before = book.epoch();
  book.pass(book.rules.alone_after + milliseconds(1));
  ASSERT_TRUE(book.run(Beat{.starting = true}));
  EXPECT_GT(book.epoch(), before);
  EXPECT_TRUE(is_refused(book.hold(k_rival, 1), Code::taken));
  EXPECT_EQ(book.count_events(EventKind::outage_recorded), 0);
}

TEST_F(Shrink, ABrokerThatJoinsALiveOneBeginsNone) {
  ASSERT_TRUE(book.run(Beat{}));
  const int64_t before = book.epoch();
  book.pass(seconds(1));
  ASSERT_TRUE(book.run(Beat{.starting = true}));
  EXPECT_EQ(book.epoch(), before);
}

}  // namespace
}  // namespace spillway::market
