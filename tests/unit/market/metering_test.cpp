// What a unit owes, by its life; and readings of what it used, as the book takes them.
#include "market/metering.h"

#include <gtest/gtest.h>

#include "support/sample_records.h"
#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;
using model::EndReason;
using model::Use;

constexpr int64_t k_core_hour_ms = 3'600'000;

// A unit of 2 cores: 40,000 an hour by time, and 10,000 for each core-hour that is used.
class Metering : public testing::Test {
 protected:
  void SetUp() override {
    book.open_market(6);
    model::Offer offer = minute_offer("metered");
    offer.price.basis = model::PriceBasis::pay_per_use;
    book.publish(offer).value();
    metered = offer.id;
    offer.id = OfferId(k_seller.text + "/bound");
    offer.price.minimum_term = minutes(30);
    book.publish(offer).value();
    bound = offer.id;
  }

  Result<Answer> meter(const ContractId& id, std::vector<model::MeteredUse> used) {
    return book.run(MeterUsage{k_seller, id, std::move(used)});
  }
  Result<Answer> meter_cpu(const ContractId& id, int64_t core_ms) {
    return meter(id, {{0, {.cpu_core_ms = core_ms}}});
  }
  const model::Unit& unit(const ContractId& id, size_t number = 0) {
    return book.contract(id).units[number];
  }

  TestBook book;
  OfferId metered;
  OfferId bound;
};

TEST_F(Metering, WhatWasMeteredIsChargedWhenTheUnitEnds) {
  const ContractId id = book.active(k_buyer, 2, metered);
  book.pass(minutes(30));
  ASSERT_TRUE(meter_cpu(id, k_core_hour_ms / 2));
  EXPECT_EQ(book.purse().spent, 0) << "a reading alone costs nothing yet";
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_EQ(unit(id, 0).charged, 20'000 + 5'000);
  EXPECT_EQ(unit(id, 0).charged_for_use, 5'000);
  EXPECT_EQ(unit(id, 1).charged, 20'000) << "nothing was read of it";
  EXPECT_EQ(book.purse(), (Purse{{}, 0, 45'000}));
}

TEST_F(Metering, AReadingCountsAsFarAsTheShapeCouldHaveBeenUsed) {
  const ContractId id = book.active(k_buyer, 1, metered);
  book.pass(minutes(30));
  const auto answer = meter(id, {{0, {.cpu_core_ms = 100 * k_core_hour_ms, .memory_mib_s = 1}}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(unit(id).metered, (Use{.cpu_core_ms = k_core_hour_ms, .memory_mib_s = 1}));
  EXPECT_EQ(*answer->contract, book.contract(id));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_EQ(unit(id).charged, 30'000) << "the whole shape for half an hour";
}

TEST_F(Metering, ReadingsOnlyGrow) {
  const ContractId id = book.active(k_buyer, 1, metered);
  book.pass(minutes(30));
  ASSERT_TRUE(meter_cpu(id, 1000));
  const auto before = book.picture();
  const size_t events = book.rows().events().size();
  EXPECT_TRUE(meter_cpu(id, 1000)) << "its answer was lost";
  EXPECT_EQ(book.picture(), before);
  EXPECT_EQ(book.rows().events().size(), events);
  EXPECT_TRUE(is_refused(meter_cpu(id, 999), Code::stale));
  EXPECT_EQ(book.picture(), before);
  EXPECT_TRUE(meter_cpu(id, 1001));
  EXPECT_EQ(book.rows().events().back().kind, EventKind::usage_metered);
}

TEST_F(Metering, WhatCannotBeMeteredIsRefused) {
  const ContractId id = book.active(k_buyer, 2, metered);
  book.pass(minutes(1));
  EXPECT_TRUE(is_refused(meter(id, {}), Code::invalid));
  EXPECT_TRUE(is_refused(meter(id, {{2, {}}}), Code::invalid));
  EXPECT_TRUE(is_refused(meter(id, {{0, {.gpu_ms = {{"nvidia-a100", 1}}}}}), Code::invalid));
  EXPECT_TRUE(is_refused(meter(id, {{0, {.cpu_core_ms = -1}}}), Code::invalid));
  EXPECT_TRUE(is_refused(book.run(MeterUsage{k_rival, id, {{0, {}}}}), Code::not_found));
  EXPECT_TRUE(is_refused(book.run(MeterUsage{k_buyer, id, {{0, {}}}}), Code::not_found));
  EXPECT_TRUE(is_refused(meter_cpu(book.held(k_buyer, 1, metered), 1), Code::conflict));
  EXPECT_TRUE(is_refused(meter_cpu(book.active(k_buyer, 1), 1), Code::conflict));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {0}}));
  EXPECT_TRUE(is_refused(meter(id, {{0, {}}, {1, {.cpu_core_ms = 5}}}), Code::gone));
  EXPECT_TRUE(unit(id, 1).metered.is_zero()) << "all readings or none";
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_TRUE(is_refused(meter(id, {{1, {}}}), Code::gone));
}

TEST_F(Metering, TheMinimumTermBindsTheTimeAndNotTheUse) {
  const ContractId id = book.active(k_buyer, 1, bound);
  book.pass(minutes(6));
  ASSERT_TRUE(meter_cpu(id, k_core_hour_ms / 10));
  const model::Contract& contract = book.contract(id);
  EXPECT_EQ(charge_of(contract, unit(id), EndReason::released, book.now),
            (Charge{.time = 4'000, .term = 16'000, .use = 1'000}));
  EXPECT_EQ(charge_of(contract, unit(id), EndReason::lapsed, book.now),
            (Charge{.time = 4'000, .term = 16'000, .use = 1'000}));
  for (const EndReason by_provider : {EndReason::noticed, EndReason::reclaimed}) {
    EXPECT_EQ(charge_of(contract, unit(id), by_provider, book.now),
              (Charge{.time = 4'000, .term = 0, .use = 1'000}));
  }
  EXPECT_EQ(accrued(contract, unit(id), book.now),
            (Charge{.time = 4'000, .term = 0, .use = 1'000}));
}

// The lease ended at 60 minutes, its drain at 61: no reading makes more of it than the whole shape.
TEST_F(Metering, UseBeyondTheEndOfTheDrainIsNotCharged) {
  const ContractId id = book.active(k_buyer, 1, metered);
  book.pass(hours(100));
  ASSERT_TRUE(meter_cpu(id, 200 * k_core_hour_ms));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_EQ(book.purse(), (Purse{{}, 0, 61'000}));
}

TEST_F(Metering, NobodyIsChargedMoreThanWasSetAside) {
  const ContractId id = book.active(k_buyer, 1, metered);
  model::Unit busy = unit(id);
  busy.metered.cpu_core_ms = 200 * k_core_hour_ms;
  const Instant late = book.now + hours(100);
  EXPECT_EQ(charge_of(book.contract(id), busy, EndReason::released, late).total(), k_set_aside);
}

TEST_F(Metering, EachPartIsRoundedUpOnce) {
  model::Price price;
  price.cpu_hour = 1;
  price.memory_gib_hour = 1;
  EXPECT_EQ(charge_for_use(price, {}), 0);
  EXPECT_EQ(charge_for_use(price, {.cpu_core_ms = 1}), 1);
  EXPECT_EQ(charge_for_use(price, {.cpu_core_ms = 1'800'000, .memory_mib_s = 1'843'200}), 1)
      << "half and half";
  EXPECT_EQ(charge_for_use(price, {.cpu_core_ms = 1'800'001, .memory_mib_s = 1'843'200}), 2);
  price.gpu_hour = {{"nvidia-a100", 7}};
  EXPECT_EQ(charge_for_use(price, {.gpu_ms = {{"nvidia-a100", k_core_hour_ms}}}), 7);
}

TEST_F(Metering, NothingThatTwoMayAgreeOnOverflows) {
  model::Price price;
  price.cpu_hour = price.memory_gib_hour = price.storage_gib_hour = model::k_max_price;
  const Use most{.cpu_core_ms = model::k_max_use,
                 .memory_mib_s = model::k_max_use,
                 .storage_mib_s = model::k_max_use};
  EXPECT_EQ(charge_for_use(price, most), model::k_max_charge);
  model::Resources shape;
  shape.cpu_millis = shape.memory_bytes = shape.storage_bytes = model::k_max_amount;
  shape.gpus = {{"nvidia-a100", model::k_max_amount}};
  const Use whole = whole_use(shape, hours(24 * 3650));
  EXPECT_EQ(whole.cpu_core_ms, model::k_max_use);
  EXPECT_EQ(whole.gpu_ms[0].amount, model::k_max_use);
  EXPECT_TRUE(validate(whole));
  EXPECT_TRUE(whole_use(shape, Duration{-5}).is_zero());
}

TEST_F(Metering, TheWholeShapeForAWhileIsWhatItSays) {
  model::Resources shape;
  shape.cpu_millis = 1500;
  shape.memory_bytes = int64_t{3} << 30;
  EXPECT_EQ(whole_use(shape, hours(1)),
            (Use{.cpu_core_ms = 5'400'000, .memory_mib_s = int64_t{3} * 1024 * 3600}));
  EXPECT_EQ(whole_use(shape, milliseconds(1)), (Use{.cpu_core_ms = 2, .memory_mib_s = 4}));
}

TEST_F(Metering, AUnitThatIsPaidForAnywayHasNoMarginalPrice) {
  model::Offer offer = minute_offer("reserved");
  offer.price.minimum_term = minutes(30);
  ASSERT_TRUE(book.publish(offer));
  const ContractId id = book.active(k_buyer, 2, offer.id);
  EXPECT_EQ(paid_anyway_until(book.contract(id)), book.now + minutes(30));
  EXPECT_EQ(marginal_rate(book.contract(id), unit(id), book.now), 0);
  EXPECT_EQ(marginal_rate(book.contract(id), unit(id), book.now + minutes(29)), 0);
  EXPECT_EQ(marginal_rate(book.contract(id), unit(id), book.now + minutes(30)), 60'000);
  ASSERT_TRUE(book.run(Release{k_buyer, id, {1}}));
  EXPECT_EQ(marginal_rate(book.contract(id), unit(id, 1), book.now + hours(1)), 0) << "it is over";
  // Who is told to leave is no longer bound, and pays for every hour.
  ASSERT_TRUE(book.run(GiveNotice{k_seller, id}));
  EXPECT_EQ(paid_anyway_until(book.contract(id)), std::nullopt);
  EXPECT_EQ(marginal_rate(book.contract(id), unit(id), book.now), 60'000);
}

TEST_F(Metering, PaidPerUseOnlyTheTimeIsPaidForAnyway) {
  const ContractId id = book.active(k_buyer, 1, bound);
  EXPECT_EQ(marginal_rate(book.contract(id), unit(id), book.now), 20'000);
  const ContractId free = book.active(k_buyer, 1, metered);
  EXPECT_EQ(marginal_rate(book.contract(free), unit(free), book.now), 60'000);
}

}  // namespace
}  // namespace spillway::market
