// Spares: agreed on, at zero; bought in a moment, as a sale like any other.
#include <gtest/gtest.h>

#include "market/invoice.h"
#include "market/metering.h"
#include "unit/market/signing_fixture.h"

namespace spillway::market {
namespace {

class Spares : public testing::Test {
 protected:
  void SetUp() override { book.open_market(2); }

  Result<Answer> hold_spares(int32_t units, const ClusterId& buyer = k_buyer) {
    return book.run(book.hold_of(buyer, {{minute_offer().id, units, units, true}}));
  }
  ContractId kept(int32_t units) {
    const ContractId id = hold_spares(units).value().grants.at(0).contract;
    book.run(Confirm{k_buyer, id}).value();
    return id;
  }
  Result<Answer> buy(const ContractId& id, std::vector<int32_t> units) {
    return book.run(Buy{k_buyer, id, std::move(units)});
  }

  TestBook book;
};

TEST_F(Spares, TakeAndCostNothing) {
  const ContractId id = kept(5);
  EXPECT_EQ(book.sold(), 0) << "five are kept of a pool that has room for two";
  EXPECT_EQ(book.account().units, 0);
  EXPECT_EQ(book.account().spares, 5);
  EXPECT_EQ(book.purse().reserved, 0);
  book.active(k_rival, 2);
  book.pass(minutes(30));
  ASSERT_TRUE(book.run(Renew{k_buyer, id}));
  EXPECT_EQ(book.purse().reserved, 0);
  EXPECT_TRUE(lines_of(book.contract(id), {}, book.now).empty());
  EXPECT_EQ(marginal_rate(book.contract(id), book.contract(id).units[0], book.now), 0);
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_EQ(book.purse(), Purse{});
  EXPECT_EQ(book.account().spares, 0);
  EXPECT_EQ(book.contract(id).state, model::ContractState::closed);
}

TEST_F(Spares, OneThatIsBoughtCostsFromThen) {
  const ContractId id = kept(2);
  book.pass(minutes(20));
  ASSERT_TRUE(buy(id, {1}));
  const model::Contract& contract = book.contract(id);
  EXPECT_EQ(contract.units[1].bought, book.now);
  EXPECT_TRUE(contract.is_spare(contract.units[0]));
  EXPECT_EQ(book.sold(), 1);
  EXPECT_EQ(book.account().units, 1);
  EXPECT_EQ(book.account().spares, 1);
  EXPECT_EQ(book.purse().reserved, (40 + 15 + 10) * k_micros_per_minute)
      << "what is left of the lease, the grace and the notice";
  EXPECT_EQ(book.count_events(EventKind::units_bought), 1);
  book.pass(minutes(10));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_EQ(book.contract(id).units[0].charged, 0);
  EXPECT_EQ(book.contract(id).units[1].charged, 10 * k_micros_per_minute);
  EXPECT_EQ(book.purse().spent, 10 * k_micros_per_minute);
  EXPECT_EQ(book.sold(), 0);
}

TEST_F(Spares, ARenewalSetsAsideForWhatWasBoughtOnly) {
  const ContractId id = kept(2);
  ASSERT_TRUE(buy(id, {0}));
  book.pass(minutes(30));
  ASSERT_TRUE(book.run(Renew{k_buyer, id}));
  EXPECT_EQ(book.purse().reserved, (90 + 15 + 10) * k_micros_per_minute);
  EXPECT_EQ(book.contract(id).units[1].reserved, 0);
}

TEST_F(Spares, BuyingIsASaleThatThePoolCovers) {
  const ContractId id = kept(3);
  book.active(k_rival, 1);
  const auto before = book.picture();
  EXPECT_TRUE(is_refused(buy(id, {0, 1}), Code::taken));
  EXPECT_EQ(book.picture(), before);
  ASSERT_TRUE(buy(id, {0}));
  EXPECT_TRUE(is_refused(buy(id, {1}), Code::taken));
  const auto bought = book.picture();
  EXPECT_TRUE(buy(id, {0})) << "its answer was lost";
  EXPECT_EQ(book.picture(), bought);
}

TEST_F(Spares, AreBoundedByTheAccount) {
  book.rules.max_spares = 4;
  kept(3);
  EXPECT_TRUE(is_refused(hold_spares(2), Code::over_quota));
  EXPECT_TRUE(hold_spares(1));
  EXPECT_TRUE(hold_spares(4, k_rival)) << "each buyer has its own";
}

TEST_F(Spares, BuyingAsksQuotaAndBudget) {
  const ContractId id = kept(2);
  model::Cluster cluster = book.account().cluster;
  cluster.quota.units = 0;
  book.enrol(cluster);
  EXPECT_TRUE(is_refused(buy(id, {0}), Code::over_quota));
  cluster.quota = {};
  cluster.quota.open_holds = 0;
  cluster.budget = model::Budget{{k_set_aside, {}}, book.now};
  book.enrol(cluster);
  EXPECT_TRUE(is_refused(buy(id, {0, 1}), Code::over_budget));
  EXPECT_TRUE(buy(id, {0})) << "it opens no hold, and there is money for one";
}

TEST_F(Spares, NobodyIsBoundToAnOldPrice) {
  const ContractId id = kept(1);
  model::Offer dearer = minute_offer();
  dearer.price.unit_hour += 1;
  book.publish(dearer).value();
  EXPECT_TRUE(is_refused(buy(id, {0}), Code::gone));
  book.publish(minute_offer()).value();
  EXPECT_TRUE(buy(id, {0}));
}

TEST_F(Spares, WhatIsNoSpareIsNotBought) {
  const ContractId plain = book.active(k_buyer, 1);
  EXPECT_TRUE(is_refused(buy(plain, {0}), Code::conflict));
  const ContractId held = hold_spares(1).value().grants.at(0).contract;
  EXPECT_TRUE(is_refused(buy(held, {0}), Code::conflict)) << "not active yet";
  const ContractId id = kept(2);
  EXPECT_TRUE(is_refused(buy(id, {}), Code::invalid));
  EXPECT_TRUE(is_refused(buy(id, {2}), Code::invalid));
  EXPECT_TRUE(is_refused(buy(id, {1, 0}), Code::invalid));
  EXPECT_TRUE(is_refused(book.run(Buy{k_rival, id, {0}}), Code::not_found));
  book.run(Release{k_buyer, id, {0}}).value();
  EXPECT_TRUE(is_refused(buy(id, {0}), Code::gone));
  book.run(GiveNotice{k_seller, id}).value();
  EXPECT_TRUE(is_refused(buy(id, {1}), Code::gone)) << "closing";
}

TEST_F(Spares, AShrunkProviderEndsNoSpares) {
  const ContractId spares = kept(2);
  book.pass(seconds(1));
  const ContractId sold = book.active(k_buyer, 2);
  book.publish(pool_of(1)).value();
  book.pass(book.rules.reclaim_after);
  book.attend();
  EXPECT_EQ(book.contract(sold).state, model::ContractState::closing);
  EXPECT_EQ(book.contract(spares).state, model::ContractState::active) << "it would free nothing";
}

TEST_F(Signing, APurchaseOfSparesIsSignedForWhatIsBought) {
  const ContractId id =
      book.run(book.hold_of(k_buyer, {{minute_offer().id, 2, 2, true}})).value().grants[0].contract;
  book.run(Confirm{k_buyer, id, agreement_for(id)}).value();
  book.run(countersign_for(id)).value();
  EXPECT_TRUE(is_refused(book.run(Buy{k_buyer, id, {0}}), Code::conflict));
  SignedEvent purchase = event_for(id, ContractEventKind::purchase, 1);
  purchase.event.units = {1};
  EXPECT_TRUE(is_refused(book.run(Buy{k_buyer, id, {0}, purchase}), Code::conflict));
  ASSERT_TRUE(book.run(Buy{k_buyer, id, {1}, purchase}));
  EXPECT_EQ(record(id).events.back().kind, ContractEventKind::purchase);
  SignedEvent again = purchase;
  again.event.units = {0};
  again.document += " again";
  EXPECT_TRUE(is_refused(book.run(Buy{k_buyer, id, {0}, again}), Code::conflict))
      << "a number that was used";
}

}  // namespace
}  // namespace spillway::market
