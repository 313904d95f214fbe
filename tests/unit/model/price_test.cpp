#include "model/price.h"

#include <gtest/gtest.h>

#include "support/nouns.h"

namespace spillway::model {
namespace {

TEST(Price, AddsUnitAndResourceRates) {
  Price price;
  price.unit_hour = 50'000;
  price.cpu_hour = 10'000;
  price.memory_gib_hour = 1'000;
  Resources shape = test::plain_shape();
  shape.gpus = {{"a100", 2}, {"t4", 1}};
  price.gpu_hour = {{"a100", 1'250'000}};
  EXPECT_EQ(hourly_rate(price, shape), 50'000 + 2 * 10'000 + 4 * 1'000 + 2 * 1'250'000);
}

TEST(Price, RoundsUpOnceForTheWholeUnit) {
  Price price;
  price.cpu_hour = 1;
  price.memory_gib_hour = 1;
  Resources shape;
  shape.cpu_millis = 500;
  shape.memory_bytes = test::k_gib / 2;
  EXPECT_EQ(hourly_rate(price, shape), 1);  // half and half are one, not two
  shape.memory_bytes += 1;
  EXPECT_EQ(hourly_rate(price, shape), 2);
}

TEST(Price, AbsurdRatesAreSeenBeforeTheyOverflow) {
  Price price;
  price.memory_gib_hour = k_max_price;
  Resources shape;
  shape.memory_bytes = k_max_amount;
  EXPECT_EQ(try_hourly_rate(price, shape), std::nullopt);
  shape.memory_bytes = test::k_gib;
  EXPECT_EQ(try_hourly_rate(price, shape), k_max_price);
}

TEST(Charge, RoundsUpToTheMicroUnit) {
  EXPECT_EQ(charge_for(3'600'000, milliseconds(1)), 1);
  EXPECT_EQ(charge_for(1, milliseconds(1)), 1);
  EXPECT_EQ(charge_for(70'000, hours(2)), 140'000);
  EXPECT_EQ(charge_for(70'000, Duration{0}), 0);
  EXPECT_EQ(charge_for(70'000, Duration{-5}), 0);
}

TEST(Charge, StopsBeforeTenThousandUnitsOverflow) {
  EXPECT_EQ(charge_for(k_max_price, hours(10 * 365 * 24)), k_max_charge);
}

TEST(Price, RefusesNegativeAndAbsurdAmounts) {
  Price price;
  price.cpu_hour = -1;
  EXPECT_EQ(validate(price).error().message(), "cpu_hour: -0.000001 is negative; use 0 to 1000000");
  price.cpu_hour = k_max_price + 1;
  EXPECT_EQ(validate(price).error().message(),
            "cpu_hour: 1000000.000001 is out of range; use 0 to 1000000");
  price = {};
  price.minimum_term = hours(10 * 365 * 24 + 1);
  EXPECT_EQ(validate(price).error().message(),
            "minimum_term: 3650d1h is out of range; use 0s to 3650d");
  price = {};
  price.currency.letters = {'e', 'u', 'r'};
  EXPECT_FALSE(validate(price));
}

}  // namespace
}  // namespace spillway::model
