// Law 5, Private: what is not yours answers, to the byte, as what is not there.
//
// Two books: in one the thing exists and is another's, in the other it never did. The same commands
// at the same time must get the same answers.
#include <gtest/gtest.h>

#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;
using test::plain_shape;

class Privacy : public testing::Test {
 protected:
  void SetUp() override {
    for (TestBook* book : {&with, &without}) {
      book->open_market(4);
      book->enrol(ClusterId("edge-4"));
    }
    contract = with.active(k_buyer, 2);
  }

  void expect_same(const Command& command) {
    const auto before = with.picture();
    const auto one = with.run(command);
    const auto other = without.run(command);
    ASSERT_FALSE(one) << name_of(command);
    ASSERT_FALSE(other) << name_of(command);
    EXPECT_EQ(one.error(), other.error()) << name_of(command);
    EXPECT_EQ(one.error().message(), other.error().message());
    EXPECT_EQ(with.picture(), before) << name_of(command);
  }

  // Everything that names a contract, by one who is no party to it or not the right one.
  void expect_all_same(const ContractId& id) {
    for (const ClusterId& who : {k_rival, ClusterId("stranger")}) {
      expect_same(Confirm{who, id});
      expect_same(Extend{who, id, minutes(1)});
      expect_same(Extend{who, id, hours(100)});
      expect_same(Renew{who, id});
      expect_same(Release{who, id, {}});
      expect_same(Release{who, id, {0}});
      expect_same(Release{who, id, {99}});
      expect_same(Look{who, id});
      expect_same(GiveNotice{who, id});
    }
    expect_same(GiveNotice{k_buyer, id});
    expect_same(Confirm{k_seller, id});
    expect_same(Extend{k_seller, id, minutes(1)});
    expect_same(Renew{k_seller, id});
    expect_same(Release{k_seller, id, {}});
  }

  TestBook with;
  TestBook without;
  ContractId contract;
};

TEST_F(Privacy, AForeignActiveContractIsAMissingOne) { expect_all_same(contract); }

TEST_F(Privacy, AForeignHoldIsAMissingOne) { expect_all_same(with.held(k_buyer, 1)); }

TEST_F(Privacy, AForeignClosingContractIsAMissingOne) {
  ASSERT_TRUE(with.run(GiveNotice{k_seller, contract}));
  expect_all_same(contract);
}

TEST_F(Privacy, AForeignClosedContractIsAMissingOne) {
  ASSERT_TRUE(with.run(Release{k_buyer, contract, {}}));
  expect_all_same(contract);
}

TEST_F(Privacy, AHiddenOfferIsAMissingOne) {
  model::Offer hidden = minute_offer("hidden");
  hidden.visibility = {.everyone = false, .clusters = {k_buyer}, .selector = {}};
  ASSERT_TRUE(with.publish(hidden));
  const auto ask = [&](std::vector<HoldLine> lines) {
    Hold hold{k_rival, "key", std::move(lines), minutes(1), {}};
    for (size_t i = 0; i < hold.lines.size(); ++i) hold.fresh.push_back(make_contract_id({}, i, 9));
    expect_same(hold);
  };
  ask({{hidden.id, 1, 1}});
  ask({{hidden.id, 1000, 1000}});
  ask({{minute_offer().id, 1, 1}, {hidden.id, 1, 1}});
  ASSERT_TRUE(with.publish(pool_of(0)));  // the reason stays the same when it is sold out
  ASSERT_TRUE(without.publish(pool_of(0)));
  ask({{hidden.id, 1, 1}});
}

TEST_F(Privacy, AForeignPublicationIsRefusedWhetherItExistsOrNot) {
  model::Offer hidden = minute_offer("hidden");
  hidden.visibility = {};
  ASSERT_TRUE(with.publish(hidden));
  ASSERT_TRUE(with.publish(pool_of(1, "hidden")));
  for (const ClusterId& who : {k_rival, ClusterId("stranger")}) {
    expect_same(PublishPool{who, pool_of(1, "hidden"), 1, minutes(1), {}});
    expect_same(WithdrawPool{who, pool_of(1, "hidden").id, 1});
    expect_same(PublishOffer{who, hidden, 1});
    expect_same(WithdrawOffer{who, hidden.id, 1});
  }
}

TEST_F(Privacy, NamingForeignContractsAsCarriedTellsNothing) {
  model::Pool pool = pool_of(4);
  pool.id = PoolId("edge-3/standard");
  const PublishPool claim{k_rival, pool, 1, minutes(1), {{contract, 3, plain_shape()}}};
  ASSERT_TRUE(with.run(claim));
  ASSERT_TRUE(without.run(claim));
  EXPECT_EQ(with.pool(pool.id), without.pool(pool.id));
  EXPECT_EQ(with.contract(contract).live_units(), 2);
  EXPECT_EQ(with.sold(), 2);
}

TEST_F(Privacy, AnotherBuyersKeyTellsNothing) {
  Hold hold{k_buyer, "shared", {{minute_offer().id, 1, 1}}, minutes(1), {with.fresh_id()}};
  ASSERT_TRUE(with.run(hold));
  hold.buyer = k_rival;
  hold.ttl = minutes(2);  // another body: under one's own key this would be refused
  hold.fresh = {with.fresh_id()};
  const auto one = with.run(hold);
  const auto other = without.run(hold);
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->grants, other->grants);
}

}  // namespace
}  // namespace spillway::market
