// Holding: law 1, and what a grant says.
#include <gtest/gtest.h>

#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;
using model::ContractState;
using model::EndReason;
using test::plain_shape;

class Holding : public testing::Test {
 protected:
  void SetUp() override { book.open_market(3); }
  TestBook book;
};

TEST_F(Holding, AGrantSaysWhatWasAgreed) {
  const Hold hold = book.hold_of(k_buyer, {{minute_offer().id, 2, 1}});
  const auto answer = book.run(hold);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->grants.size(), 1u);
  const Grant& grant = answer->grants[0];
  EXPECT_EQ(grant.contract, hold.fresh[0]);
  EXPECT_EQ(grant.offer, minute_offer().id);
  EXPECT_EQ(grant.units, 2);
  EXPECT_EQ(grant.rate, 60'000);
  EXPECT_EQ(grant.hold_until, book.now + minutes(5));
  EXPECT_FALSE(answer->replayed);

  const model::Contract& contract = book.contract(grant.contract);
  EXPECT_EQ(contract.state, ContractState::hold);
  EXPECT_EQ(contract.buyer, k_buyer);
  EXPECT_EQ(contract.provider, k_seller);
  EXPECT_EQ(contract.created, book.now);
  EXPECT_FALSE(contract.started);
  ASSERT_EQ(contract.units.size(), 2u);
  EXPECT_EQ(contract.units[1].number, 1);
  EXPECT_EQ(contract.units[1].reserved, k_set_aside);
}

TEST_F(Holding, CountsOnPoolAndAccount) {
  book.held(k_buyer, 2);
  EXPECT_EQ(book.pool().committed, plain_shape().times(2));
  EXPECT_EQ(book.account().units, 2);
  EXPECT_EQ(book.account().open_holds, 1);
  EXPECT_EQ(book.account().used, plain_shape().times(2));
  EXPECT_EQ(book.purse(), (Purse{{}, 2 * k_set_aside, 0}));
}

TEST_F(Holding, TheLastUnitIsSoldOnce) {
  ASSERT_TRUE(book.hold(k_buyer, 2));
  EXPECT_TRUE(book.hold(k_rival, 1));
  const auto before = book.picture();
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::taken));
  EXPECT_EQ(book.picture(), before);
}

TEST_F(Holding, AsManyAsThereAreButAtLeastSoMany) {
  EXPECT_TRUE(
      is_refused(book.run(book.hold_of(k_buyer, {{minute_offer().id, 5, 4}})), Code::taken));
  const auto answer = book.run(book.hold_of(k_buyer, {{minute_offer().id, 5, 3}}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->grants[0].units, 3);
  EXPECT_EQ(book.contract(answer->grants[0].contract).units.size(), 3u);
}

TEST_F(Holding, OffersOnOnePoolDrawOnTheSameCapacity) {
  model::Offer large = minute_offer("large");
  large.shape = plain_shape().times(2);
  ASSERT_TRUE(book.publish(large));
  ASSERT_TRUE(book.hold(k_buyer, 1, large.id));  // one plain shape is left
  EXPECT_TRUE(is_refused(book.hold(k_rival, 1, large.id), Code::taken));
  EXPECT_TRUE(is_refused(book.hold(k_rival, 2), Code::taken));
  EXPECT_TRUE(book.hold(k_rival, 1));
}

TEST_F(Holding, SeveralOffersAreHeldInOneCommitOrNotAtAll) {
  ASSERT_TRUE(book.publish(pool_of(1, "second")));
  model::Offer other = minute_offer("other");
  other.pool = pool_of(1, "second").id;
  ASSERT_TRUE(book.publish(other));

  const auto before = book.picture();
  EXPECT_TRUE(is_refused(
      book.run(book.hold_of(k_buyer, {{minute_offer().id, 3, 3}, {other.id, 2, 2}})), Code::taken));
  EXPECT_EQ(book.picture(), before);

  const auto answer =
      book.run(book.hold_of(k_buyer, {{minute_offer().id, 3, 3}, {other.id, 1, 1}}));
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->grants.size(), 2u);
  EXPECT_EQ(book.sold(), 3);
  EXPECT_EQ(book.sold(other.pool), 1);
  EXPECT_EQ(book.account().units, 4);
  EXPECT_EQ(book.account().open_holds, 2);
}

TEST_F(Holding, LinesOfOneHoldOnOnePoolSeeEachOther) {
  ASSERT_TRUE(book.publish(minute_offer("twin")));
  const OfferId twin("edge-1/twin");
  EXPECT_TRUE(is_refused(book.run(book.hold_of(k_buyer, {{minute_offer().id, 2, 2}, {twin, 2, 2}})),
                         Code::taken));
  const auto answer = book.run(book.hold_of(k_buyer, {{minute_offer().id, 2, 2}, {twin, 2, 1}}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->grants[1].units, 1);
  EXPECT_EQ(book.sold(), 3);
}

// In each resource in turn there is room for one unit less.
TEST_F(Holding, EveryResourceHasToCover) {
  model::Offer offer = minute_offer("full");
  offer.shape.storage_bytes = 10;
  offer.shape.gpus = {{"nvidia-a100", 1}};
  offer.shape.extended = {{"example.com/fpga", 2}};
  const auto shrink = std::vector<void (*)(model::Resources&)>{
      [](model::Resources& r) { r.cpu_millis -= 1; },
      [](model::Resources& r) { r.memory_bytes -= 1; },
      [](model::Resources& r) { r.pods -= 1; },
      [](model::Resources& r) { r.storage_bytes -= 1; },
      [](model::Resources& r) { r.gpus[0].amount -= 1; },
      [](model::Resources& r) {
        r.gpus = {{"nvidia-h100", 9}};
      },
      [](model::Resources& r) { r.extended[0].amount -= 1; },
      [](model::Resources& r) { r.extended.clear(); }};
  int number = 0;
  for (const auto& bend : shrink) {
    model::Pool pool = pool_of(2, "p" + std::to_string(++number));
    pool.node = offer.shape.times(4);
    pool.capacity = offer.shape.times(2);
    bend(pool.capacity);
    ASSERT_TRUE(book.publish(pool));
    offer.id = OfferId("edge-1/full-" + std::to_string(number));
    offer.pool = pool.id;
    ASSERT_TRUE(book.publish(offer));
    EXPECT_TRUE(is_refused(book.hold(k_buyer, 2, offer.id), Code::taken)) << number;
  }
}

TEST_F(Holding, AHoldThatNobodyConfirmsExpiresAndGivesEverythingBack) {
  const ContractId id = book.held(k_buyer, 3);
  book.pass(minutes(5) - milliseconds(1));
  book.attend();
  EXPECT_EQ(book.contract(id).state, ContractState::hold);
  book.pass(milliseconds(1));
  book.attend();
  EXPECT_EQ(book.contract(id).state, ContractState::closed);
  EXPECT_EQ(book.contract(id).reason, EndReason::expired);
  EXPECT_EQ(book.sold(), 0);
  EXPECT_EQ(book.account().units, 0);
  EXPECT_EQ(book.account().open_holds, 0);
  EXPECT_TRUE(book.account().used.is_zero());
  EXPECT_EQ(book.purse(), (Purse{{}, 0, 0}));
  EXPECT_TRUE(book.hold(k_rival, 3));
}

TEST_F(Holding, WhoIsNotEnrolledHoldsNothing) {
  EXPECT_TRUE(is_refused(book.hold(ClusterId("stranger"), 1), Code::denied));
}

TEST_F(Holding, AnIdThatIsTakenIsNeverSoldOver) {
  const ContractId id = book.held(k_buyer, 1);
  Hold hold = book.hold_of(k_rival, {{minute_offer().id, 1, 1}});
  hold.fresh = {id};
  const auto before = book.picture();
  EXPECT_TRUE(is_refused(book.run(hold), Code::internal));
  EXPECT_EQ(book.picture(), before);
}

TEST_F(Holding, UnitsHaveTheirNamesBeforeTheContractIsSigned) {
  const ContractId id = book.held(k_buyer, 2);
  EXPECT_EQ(unit_name(id, 1), "sw-" + id.text + "-1");
  const auto confirmed = book.run(Confirm{k_buyer, id});
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->contract->id, id);
}

}  // namespace
}  // namespace spillway::market
