// Pools and offers come and go by sequence number, under a lease.
#include <gtest/gtest.h>

#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;
using test::plain_shape;

class Publish : public testing::Test {
 protected:
  void SetUp() override { book.open_market(3); }

  Result<Answer> publish_pool(int64_t sequence, const model::Pool& pool,
                              Duration lease = minutes(1)) {
    return book.run(PublishPool{k_seller, pool, sequence, lease, {}});
  }

  TestBook book;
};

TEST_F(Publish, TellsTheLogWhoPublishedWhat) {
  const Event& event = book.rows().events().back();
  EXPECT_EQ(event.kind, EventKind::offer_published);
  EXPECT_EQ(event.subject, "edge-1/small");
  EXPECT_EQ(event.pool, pool_of(3).id);
  EXPECT_EQ(event.provider, k_seller);
}

// It names the epoch, but its report is not above zero: not a confirmation, and not on sale.
TEST_F(Publish, ANewPoolThatConfirmsNothingIsARowThatCanBeReadBack) {
  model::Pool pool = pool_of(5);
  pool.id = PoolId("edge-1/other");
  const Result<Answer> told = book.run(PublishPool{k_seller, pool, 1, minutes(1), {}});
  ASSERT_TRUE(told);
  pool.id = PoolId("edge-1/third");
  ASSERT_TRUE(book.run(PublishPool{k_seller, pool, 1, minutes(1), {}, told->epoch, 0}));
}

TEST_F(Publish, AnOlderSequenceIsRefusedAndChangesNothing) {
  ASSERT_TRUE(publish_pool(7, pool_of(5)));
  const auto before = book.picture();
  EXPECT_TRUE(is_refused(publish_pool(6, pool_of(9)), Code::stale));
  EXPECT_EQ(book.picture(), before);
}

TEST_F(Publish, TheSameSequenceAndContentRenewsTheLease) {
  ASSERT_TRUE(publish_pool(7, pool_of(5)));
  book.pass(seconds(50));
  ASSERT_TRUE(publish_pool(7, pool_of(5)));
  EXPECT_EQ(book.pool().lease_until, book.now + minutes(1));
  book.pass(seconds(59));
  EXPECT_TRUE(book.hold(k_buyer, 1));
}

TEST_F(Publish, TheSameSequenceWithAnotherContentIsRefused) {
  ASSERT_TRUE(publish_pool(7, pool_of(5)));
  EXPECT_TRUE(is_refused(publish_pool(7, pool_of(6)), Code::stale));
  model::Offer offer = minute_offer();
  offer.price.unit_hour += 1;
  EXPECT_TRUE(is_refused(book.run(PublishOffer{k_seller, offer, 1}), Code::stale));
}

TEST_F(Publish, ASilentProviderSellsNothingAndItsContractsStay) {
  ASSERT_TRUE(publish_pool(7, pool_of(3)));
  const ContractId sold = book.active(k_buyer, 1);
  book.pass(minutes(1) - milliseconds(1));
  EXPECT_TRUE(book.hold(k_buyer, 1));
  book.pass(milliseconds(1));
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::taken));
  EXPECT_EQ(book.contract(sold).state, model::ContractState::active);
  EXPECT_TRUE(book.run(Renew{k_buyer, sold}));
}

TEST_F(Publish, AWithdrawnPoolSellsNothingAndItsContractsStay) {
  const ContractId sold = book.active(k_buyer, 1);
  ASSERT_TRUE(book.run(WithdrawPool{k_seller, pool_of(3).id, 2}));
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::taken));
  EXPECT_TRUE(book.run(Renew{k_buyer, sold}));
  EXPECT_EQ(book.sold(), 1);
  ASSERT_TRUE(book.run(Release{k_buyer, sold, {}}));
  EXPECT_EQ(book.sold(), 0);
}

TEST_F(Publish, AWithdrawnPoolForgetsWhatOnlyItsProviderKnew) {
  const auto report = [&](int64_t sequence, std::vector<Carried> carries) {
    return book.run(PublishPool{k_seller, pool_of(3), sequence, hours(1), std::move(carries),
                                book.epoch(), book.pool().report + 1});
  };
  const ContractId stray = book.fresh_id();
  ASSERT_TRUE(report(2, {{stray, 4, minute_offer().shape}}));
  ASSERT_TRUE(book.pool().oversold_since);

  ASSERT_TRUE(book.run(WithdrawPool{k_seller, pool_of(3).id, 3}));
  EXPECT_TRUE(book.pool().unaccounted.is_zero());
  EXPECT_FALSE(book.pool().oversold_since);

  // Published without saying what it carries now, it is not sold from.
  ASSERT_TRUE(book.run(
      PublishPool{k_seller, pool_of(3), 4, hours(1), {}, book.epoch(), book.pool().report}));
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::taken));
  ASSERT_TRUE(report(5, {{stray, 2, minute_offer().shape}}));
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 2), Code::taken));
  EXPECT_TRUE(book.hold(k_buyer, 1));
}

TEST_F(Publish, WithdrawingTwiceIsWithdrawingOnce) {
  ASSERT_TRUE(book.run(WithdrawPool{k_seller, pool_of(3).id, 2}));
  ASSERT_TRUE(book.run(WithdrawOffer{k_seller, minute_offer().id, 2}));
  const auto before = book.picture();
  const size_t events = book.rows().events().size();
  EXPECT_TRUE(book.run(WithdrawPool{k_seller, pool_of(3).id, 2}));
  EXPECT_TRUE(book.run(WithdrawOffer{k_seller, minute_offer().id, 2}));
  EXPECT_EQ(book.picture(), before);
  EXPECT_EQ(book.rows().events().size(), events);
}

TEST_F(Publish, AWithdrawnPoolComesBackOnlyWithANewerSequence) {
  ASSERT_TRUE(book.run(WithdrawPool{k_seller, pool_of(3).id, 2}));
  EXPECT_TRUE(is_refused(publish_pool(2, pool_of(3)), Code::stale));
  ASSERT_TRUE(book.run(
      PublishPool{k_seller, pool_of(3), 3, hours(1), {}, book.epoch(), book.pool().report + 1}));
  EXPECT_TRUE(book.hold(k_buyer, 3));
}

TEST_F(Publish, AnOlderWithdrawalDoesNotTakeBackANewerPublication) {
  ASSERT_TRUE(publish_pool(5, pool_of(3)));
  EXPECT_TRUE(is_refused(book.run(WithdrawPool{k_seller, pool_of(3).id, 4}), Code::stale));
  EXPECT_FALSE(book.pool().withdrawn);
}

TEST_F(Publish, AWithdrawnOfferIsNotFoundUntilItIsPublishedAnew) {
  ASSERT_TRUE(book.run(WithdrawOffer{k_seller, minute_offer().id, 2}));
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::not_found));
  ASSERT_TRUE(book.run(PublishOffer{k_seller, minute_offer(), 3}));
  EXPECT_TRUE(book.hold(k_buyer, 1));
}

TEST_F(Publish, ShapeLabelsAndTaintsNeverChangeUnderAnOfferId) {
  model::Offer other = minute_offer();
  other.shape.cpu_millis -= 1;
  EXPECT_TRUE(is_refused(book.run(PublishOffer{k_seller, other, 2}), Code::stale));
  other = minute_offer();
  other.labels[0].value = "arm64";
  EXPECT_TRUE(is_refused(book.run(PublishOffer{k_seller, other, 2}), Code::stale));
  other = minute_offer();
  other.taints = {{"gpu", "", model::TaintEffect::no_schedule}};
  EXPECT_TRUE(is_refused(book.run(PublishOffer{k_seller, other, 2}), Code::stale));
  ASSERT_TRUE(book.run(WithdrawOffer{k_seller, minute_offer().id, 2}));
  EXPECT_TRUE(is_refused(book.run(PublishOffer{k_seller, other, 3}), Code::stale));
}

TEST_F(Publish, ANewPriceHoldsForLaterContractsOnly) {
  const ContractId before = book.held(k_buyer, 1);
  model::Offer dearer = minute_offer();
  dearer.price.unit_hour = 100'000;
  ASSERT_TRUE(book.publish(dearer));
  const ContractId after = book.held(k_buyer, 1);
  EXPECT_EQ(book.contract(before).rate, 60'000);
  EXPECT_EQ(book.contract(after).rate, 120'000);
}

TEST_F(Publish, NoOfferIsLargerThanOneNode) {
  model::Offer huge = minute_offer("huge");
  huge.shape = plain_shape().times(5);  // a node has four
  EXPECT_TRUE(is_refused(book.publish(huge), Code::invalid));
}

TEST_F(Publish, AnOfferThatOutgrewItsPoolsNodesIsNotSold) {
  model::Pool smaller = pool_of(3);
  smaller.node = plain_shape();
  smaller.node.memory_bytes -= 1;
  ASSERT_TRUE(book.publish(smaller));
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::taken));
}

TEST_F(Publish, AnOfferNeedsItsPool) {
  model::Offer offer = minute_offer("stray");
  offer.pool = PoolId("edge-1/nowhere");
  EXPECT_TRUE(is_refused(book.publish(offer), Code::not_found));
}

TEST_F(Publish, NobodyPublishesForAnotherOrUnenrolled) {
  EXPECT_TRUE(
      is_refused(book.run(PublishPool{k_rival, pool_of(9), 9, minutes(1), {}}), Code::denied));
  EXPECT_TRUE(is_refused(book.run(PublishOffer{k_rival, minute_offer(), 9}), Code::denied));
  EXPECT_TRUE(is_refused(book.run(WithdrawPool{k_rival, pool_of(9).id, 9}), Code::denied));
  EXPECT_TRUE(is_refused(book.run(WithdrawOffer{k_rival, minute_offer().id, 9}), Code::denied));
  model::Pool foreign = pool_of(9);
  foreign.id = PoolId("nobody/standard");
  EXPECT_TRUE(is_refused(book.run(PublishPool{ClusterId("nobody"), foreign, 1, minutes(1), {}}),
                         Code::denied));
}

TEST_F(Publish, AnOfferIsSoldUntilItsLastDay) {
  model::Offer offer = minute_offer("brief");
  offer.until = book.now + minutes(5);
  ASSERT_TRUE(book.publish(offer));
  book.pass(minutes(5) - milliseconds(1));
  EXPECT_TRUE(book.hold(k_buyer, 1, offer.id));
  book.pass(milliseconds(1));
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1, offer.id), Code::gone));
}

TEST_F(Publish, EnrollingAgainKeepsWhatTheClusterHolds) {
  const ContractId id = book.active(k_buyer, 2);
  model::Cluster cluster;
  cluster.id = k_buyer;
  cluster.labels = {{"tier", "gold"}};
  book.enrol(cluster);
  EXPECT_EQ(book.account().units, 2);
  EXPECT_EQ(book.account().cluster.labels, cluster.labels);
  EXPECT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_EQ(book.account().units, 0);
}

}  // namespace
}  // namespace spillway::market
