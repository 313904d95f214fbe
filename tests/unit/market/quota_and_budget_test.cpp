// What a buyer may hold at a time, and promise to pay.
#include <gtest/gtest.h>

#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;
using test::plain_shape;

constexpr Currency k_dollar{{'U', 'S', 'D'}};

class QuotaAndBudget : public testing::Test {
 protected:
  void SetUp() override {
    book.open_market(20);
    cluster.id = k_buyer;
  }
  void set_budget(int64_t micros, Currency currency = {}) {
    cluster.budget = model::Budget{{micros, currency}, book.now};
    book.enrol(cluster);
  }
  // How many units the buyer gets of as many as it can have.
  int32_t most() {
    const auto answer = book.run(book.hold_of(k_buyer, {{minute_offer().id, 20, 1}}));
    return answer ? answer->grants[0].units : 0;
  }

  TestBook book;
  model::Cluster cluster;
};

TEST_F(QuotaAndBudget, UnitsAreCapped) {
  cluster.quota.units = 3;
  book.enrol(cluster);
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 4), Code::over_quota));
  EXPECT_EQ(most(), 3);
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::over_quota));
  EXPECT_TRUE(book.hold(k_rival, 1)) << "a quota is the buyer's alone";
}

TEST_F(QuotaAndBudget, EveryResourceIsCapped) {
  const model::Resources one = plain_shape();
  const std::vector<void (*)(model::Quota&, const model::Resources&)> caps{
      [](model::Quota& q, const model::Resources& r) { q.cpu_millis = r.cpu_millis * 3 - 1; },
      [](model::Quota& q, const model::Resources& r) { q.memory_bytes = r.memory_bytes * 3 - 1; },
      [](model::Quota& q, const model::Resources& r) { q.pods = r.pods * 3 - 1; }};
  for (size_t i = 0; i < caps.size(); ++i) {
    TestBook fresh;
    fresh.open_market(20);
    cluster.quota = {};
    caps[i](cluster.quota, one);
    fresh.enrol(cluster);
    const auto answer = fresh.run(fresh.hold_of(k_buyer, {{minute_offer().id, 9, 1}}));
    ASSERT_TRUE(answer) << i;
    EXPECT_EQ(answer->grants[0].units, 2) << i;
  }
}

TEST_F(QuotaAndBudget, GpusAndExtendedResourcesAreCappedByName) {
  model::Offer offer = minute_offer("gpu");
  offer.shape.gpus = {{"nvidia-a100", 2}};
  offer.shape.extended = {{"example.com/fpga", 1}};
  model::Pool pool = pool_of(20, "gpus");
  pool.node = offer.shape.times(4);
  pool.capacity = offer.shape.times(20);
  offer.pool = pool.id;
  ASSERT_TRUE(book.publish(pool));
  ASSERT_TRUE(book.publish(offer));
  const auto granted = [&](const model::Quota& quota) {
    cluster.quota = quota;
    book.enrol(cluster);
    const auto answer = book.run(book.hold_of(k_buyer, {{offer.id, 9, 1}}));
    if (!answer) return 0;
    book.run(Release{k_buyer, answer->grants[0].contract, {}}).value();
    return answer->grants[0].units;
  };
  model::Quota quota;
  quota.gpus = {{"nvidia-a100", 7}};
  EXPECT_EQ(granted(quota), 3);
  quota.gpus = {{"nvidia-a100", 0}};
  EXPECT_EQ(granted(quota), 0);
  quota.gpus = {{"nvidia-h100", 0}};
  EXPECT_EQ(granted(quota), 9) << "what is not listed has no cap";
  quota.extended = {{"example.com/fpga", 4}};
  EXPECT_EQ(granted(quota), 4);
}

TEST_F(QuotaAndBudget, QuotaComesBackUnitByUnit) {
  cluster.quota.units = 3;
  book.enrol(cluster);
  const ContractId id = book.active(k_buyer, 3);
  ASSERT_TRUE(book.run(Release{k_buyer, id, {1}}));
  EXPECT_TRUE(book.hold(k_buyer, 1));
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::over_quota));
}

TEST_F(QuotaAndBudget, OpenHoldsAreCappedUntilConfirmedOrGivenBack) {
  cluster.quota.open_holds = 2;
  book.enrol(cluster);
  const ContractId first = book.held(k_buyer, 4);
  const ContractId second = book.held(k_buyer, 1);
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::over_quota));
  ASSERT_TRUE(book.run(Release{k_buyer, first, {0}}));
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::over_quota))
      << "still open with one unit less";
  ASSERT_TRUE(book.run(Confirm{k_buyer, first}));
  const ContractId third = book.held(k_buyer, 1);
  ASSERT_TRUE(book.run(Release{k_buyer, second, {}}));
  ASSERT_TRUE(book.run(Release{k_buyer, third, {}}));
  EXPECT_EQ(book.account().open_holds, 0);
}

TEST_F(QuotaAndBudget, EveryLineOfAHoldIsAnOpenHold) {
  ASSERT_TRUE(book.publish(minute_offer("twin")));
  cluster.quota.open_holds = 1;
  book.enrol(cluster);
  EXPECT_TRUE(is_refused(
      book.run(book.hold_of(k_buyer, {{minute_offer().id, 1, 1}, {OfferId("edge-1/twin"), 1, 1}})),
      Code::over_quota));
}

TEST_F(QuotaAndBudget, ALoweredQuotaTakesNothingAway) {
  const ContractId id = book.active(k_buyer, 5);
  cluster.quota.units = 2;
  book.enrol(cluster);
  EXPECT_TRUE(book.run(Renew{k_buyer, id}));
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::over_quota));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {0, 1, 2}}));
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::over_quota)) << "two of two are in use";
}

// 85,000 are set aside for a unit.
TEST_F(QuotaAndBudget, ABudgetCoversTheMostThatCanBeCharged) {
  set_budget(3 * k_set_aside - 1);
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 3), Code::over_budget));
  EXPECT_EQ(most(), 2);
  EXPECT_EQ(book.purse().reserved, 2 * k_set_aside);
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::over_budget));
}

TEST_F(QuotaAndBudget, TheLinesOfOneHoldShareTheBudget) {
  ASSERT_TRUE(book.publish(minute_offer("twin")));
  set_budget(3 * k_set_aside);
  EXPECT_TRUE(is_refused(
      book.run(book.hold_of(k_buyer, {{minute_offer().id, 2, 2}, {OfferId("edge-1/twin"), 2, 2}})),
      Code::over_budget));
  EXPECT_EQ(book.purse().reserved, 0);
}

// Half an hour at 1,000 a minute is spent; the rest of what was set aside comes back.
TEST_F(QuotaAndBudget, WhatWasNotSpentComesBack) {
  set_budget(100'000);
  const ContractId id = book.active(k_buyer, 1);
  book.pass(minutes(30));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_EQ(book.purse(), (Purse{{}, 0, 30'000}));
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::over_budget)) << "70,000 are left";
}

TEST_F(QuotaAndBudget, ABudgetFromAnotherDayStartsTheCountAnew) {
  set_budget(100'000);
  const ContractId id = book.active(k_buyer, 1);
  book.pass(minutes(30));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  cluster.budget->limit.micros = 110'000;  // the same day: what was spent still counts
  book.enrol(cluster);
  EXPECT_EQ(book.purse().spent, 30'000);
  set_budget(100'000);
  EXPECT_EQ(book.purse().spent, 0);
  EXPECT_TRUE(book.hold(k_buyer, 1));
}

// Another hour costs 60,000 more: 85,000 + 30,000 after half an hour, since the lease begins anew.
TEST_F(QuotaAndBudget, RenewingSetsAsideWhatAnotherLeaseCanCome) {
  set_budget(k_set_aside + 30'000);
  const ContractId id = book.active(k_buyer, 1);
  book.pass(minutes(30));
  ASSERT_TRUE(book.run(Renew{k_buyer, id}));
  EXPECT_EQ(book.purse().reserved, 115'000);
  EXPECT_EQ(book.contract(id).units[0].reserved, 115'000);
  book.pass(minutes(1));
  const auto before = book.picture();
  EXPECT_TRUE(is_refused(book.run(Renew{k_buyer, id}), Code::over_budget));
  EXPECT_EQ(book.picture(), before);
}

TEST_F(QuotaAndBudget, RenewingSetsAsideForLiveUnitsOnly) {
  const ContractId id = book.active(k_buyer, 3);
  book.pass(minutes(30));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {1}}));
  ASSERT_TRUE(book.run(Renew{k_buyer, id}));
  EXPECT_EQ(book.purse(), (Purse{{}, 2 * 115'000, 30'000}));
}

TEST_F(QuotaAndBudget, ARenewalThatNeedsNothingMoreIsNeverOverBudget) {
  model::Offer offer = minute_offer("term");
  offer.price.minimum_term = hours(10);  // 600,000 are set aside from the beginning
  ASSERT_TRUE(book.publish(offer));
  const ContractId id = book.active(k_buyer, 1, offer.id);
  set_budget(1'000);  // lowered by the operator
  book.pass(minutes(30));
  EXPECT_TRUE(book.run(Renew{k_buyer, id}));
  EXPECT_EQ(book.purse().reserved, 600'000);
}

TEST_F(QuotaAndBudget, ABudgetInOneCurrencyBuysNothingInAnother) {
  set_budget(1'000'000'000, k_dollar);
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1), Code::invalid));
}

TEST_F(QuotaAndBudget, CurrenciesAreCountedApart) {
  model::Offer dollars = minute_offer("dollars");
  dollars.price.currency = k_dollar;
  ASSERT_TRUE(book.publish(dollars));
  const ContractId euro = book.active(k_buyer, 1);
  const ContractId dollar = book.active(k_buyer, 1, dollars.id);
  book.pass(minutes(10));
  ASSERT_TRUE(book.run(Release{k_buyer, euro, {}}));
  EXPECT_EQ(book.purse(), (Purse{{}, 0, 10'000}));
  EXPECT_EQ(book.purse(k_buyer, k_dollar), (Purse{k_dollar, k_set_aside, 0}));
  ASSERT_TRUE(book.run(Release{k_buyer, dollar, {}}));
  EXPECT_EQ(book.purse(k_buyer, k_dollar), (Purse{k_dollar, 0, 10'000}));
}

TEST_F(QuotaAndBudget, WhatIsFreeNeedsNoBudget) {
  model::Offer gift = minute_offer("gift");
  gift.price = {};
  ASSERT_TRUE(book.publish(gift));
  set_budget(0);
  EXPECT_TRUE(book.hold(k_buyer, 3, gift.id));
}

// Two outsiders may agree on anything. A unit of this can come to INT64_MAX / 10,000.
TEST_F(QuotaAndBudget, AbsurdPromisesAreRefusedNotSummed) {
  model::Offer absurd = minute_offer("absurd");
  absurd.price.unit_hour = model::k_max_price - 20'000;
  absurd.price.minimum_term = hours(10 * 365 * 24);
  absurd.shape = {};
  absurd.shape.pods = 1;
  model::Pool pool = pool_of(1, "absurd");
  pool.node = pool.capacity = absurd.shape.times(model::k_max_amount);
  absurd.pool = pool.id;
  ASSERT_TRUE(book.publish(pool));
  ASSERT_TRUE(book.publish(absurd));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(book.hold(k_buyer, 1000, absurd.id)) << i;
  EXPECT_TRUE(is_refused(book.hold(k_buyer, 1000, absurd.id), Code::over_budget));
}

TEST_F(QuotaAndBudget, AbsurdHoldingsAreRefusedNotSummed) {
  model::Offer absurd = minute_offer("absurd");
  absurd.price = {};
  absurd.shape.cpu_millis = model::k_max_amount;
  absurd.shape.gpus = {{"nvidia-a100", model::k_max_amount}};
  int held = 0;
  for (int i = 0; i < 8300; ++i) {
    model::Pool pool = pool_of(1, "absurd-" + std::to_string(i));
    pool.node = pool.capacity = absurd.shape;
    absurd.id = OfferId("edge-1/absurd-" + std::to_string(i));
    absurd.pool = pool.id;
    ASSERT_TRUE(book.publish(pool));
    ASSERT_TRUE(book.publish(absurd));
    if (const auto answer = book.hold(k_buyer, 1, absurd.id); answer) {
      ++held;
    } else {
      EXPECT_TRUE(is_refused(answer, Code::over_quota));
    }
  }
  EXPECT_EQ(held, 8191);  // INT64_MAX / 2^50
}

}  // namespace
}  // namespace spillway::market
