// Idempotency keys: scoped to the buyer, kept for Rules::key_retention from the grant on.
#include <gtest/gtest.h>

#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;

class Idempotency : public testing::Test {
 protected:
  void SetUp() override { book.open_market(3); }

  // As a client retries: the same body under the same key; the broker has new ids for it.
  Hold retry_of(Hold hold) {
    for (ContractId& id : hold.fresh) id = book.fresh_id();
    return hold;
  }

  TestBook book;
};

TEST_F(Idempotency, ARetryGetsTheSameAnswerAndChangesNothing) {
  const Hold hold = book.hold_of(k_buyer, {{minute_offer().id, 2, 2}});
  const auto first = book.run(hold);
  ASSERT_TRUE(first);
  const auto before = book.picture();
  const size_t events = book.rows().events().size();
  book.pass(minutes(1));
  const auto second = book.run(retry_of(hold));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->grants, first->grants);
  EXPECT_TRUE(second->replayed);
  EXPECT_EQ(book.picture(), before);
  EXPECT_EQ(book.rows().events().size(), events);
}

TEST_F(Idempotency, ARetryOfAHoldThatHasEndedStillGetsTheSameAnswer) {
  const Hold hold = book.hold_of(k_buyer, {{minute_offer().id, 2, 2}});
  const auto first = book.run(hold);
  ASSERT_TRUE(book.run(Release{k_buyer, first->grants[0].contract, {}}));
  const auto second = book.run(retry_of(hold));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->grants, first->grants);
  EXPECT_EQ(book.sold(), 0);
}

TEST_F(Idempotency, AnotherBodyUnderTheSameKeyIsRefused) {
  const Hold hold = book.hold_of(k_buyer, {{minute_offer().id, 2, 1}});
  ASSERT_TRUE(book.run(hold));
  Hold other = retry_of(hold);
  other.lines[0].units = 1;
  EXPECT_TRUE(is_refused(book.run(other), Code::key_reused));
  other = retry_of(hold);
  other.lines[0].at_least = 2;
  EXPECT_TRUE(is_refused(book.run(other), Code::key_reused));
  other = retry_of(hold);
  other.ttl = minutes(4);
  EXPECT_TRUE(is_refused(book.run(other), Code::key_reused));
  other = retry_of(hold);
  other.lines[0].offer = OfferId("edge-1/another");
  EXPECT_TRUE(is_refused(book.run(other), Code::key_reused));
  EXPECT_EQ(book.sold(), 2);
}

TEST_F(Idempotency, KeysOfTwoBuyersNeverMeet) {
  const Hold mine = book.hold_of(k_buyer, {{minute_offer().id, 1, 1}});
  Hold theirs = retry_of(mine);
  theirs.buyer = k_rival;
  theirs.lines[0].units = 2;
  ASSERT_TRUE(book.run(mine));
  const auto answer = book.run(theirs);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->replayed);
  EXPECT_EQ(book.account(k_rival).units, 2);
}

TEST_F(Idempotency, ARefusalIsNotRememberedSoTheRetryMaySucceed) {
  const ContractId in_the_way = book.held(k_rival, 3);
  const Hold hold = book.hold_of(k_buyer, {{minute_offer().id, 1, 1}});
  EXPECT_TRUE(is_refused(book.run(hold), Code::taken));
  ASSERT_TRUE(book.run(Release{k_rival, in_the_way, {}}));
  const auto answer = book.run(retry_of(hold));
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->replayed);
}

TEST_F(Idempotency, AKeyIsForgottenAfterItsRetentionAndNotBefore) {
  const Hold hold = book.hold_of(k_buyer, {{minute_offer().id, 1, 1}});
  ASSERT_TRUE(book.run(hold));
  book.pass(book.rules.key_retention - milliseconds(1));
  book.attend();
  EXPECT_TRUE(book.run(retry_of(hold)).value().replayed);
  book.pass(milliseconds(1));
  EXPECT_FALSE(book.run(retry_of(hold)).value().replayed) << "also before the row is collected";
}

TEST_F(Idempotency, ForgottenKeysLeaveNoRow) {
  const Hold hold = book.hold_of(k_buyer, {{minute_offer().id, 1, 1}});
  ASSERT_TRUE(book.run(hold));
  book.pass(book.rules.key_retention);
  book.attend();
  EXPECT_EQ(book.get<RequestRecord>(request_key(k_buyer, hold.key)), nullptr);
  EXPECT_FALSE(book.run(retry_of(hold)).value().replayed);
}

}  // namespace
}  // namespace spillway::market
