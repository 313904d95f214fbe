#include "model/price.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/generators.h"

namespace spillway::model {
namespace {

RC_GTEST_PROP(Price, RateIsTheExactSumRoundedUpOnce, ()) {
  Price price = *test::any_price();
  Resources shape = *test::any_shape();
  price.gpu_hour.clear();
  price.extended_hour.clear();
  // Over the common denominator 1000 × 2^30, small enough here to stay inside 128 bits.
  const Int128 gib = Int128{1} << 30;
  const Int128 numerator = Int128{price.unit_hour} * 1000 * gib +
                           Int128{price.cpu_hour} * shape.cpu_millis * gib +
                           (Int128{price.memory_gib_hour} * shape.memory_bytes +
                            Int128{price.storage_gib_hour} * shape.storage_bytes) *
                               1000;
  const Int128 expected = (numerator + 1000 * gib - 1) / (1000 * gib);
  RC_ASSERT(Int128{hourly_rate(price, shape)} == expected);
}

RC_GTEST_PROP(Price, GpusAndExtendedResourcesArePaidByName, ()) {
  Price price = *test::any_price();
  const Resources shape = *test::any_shape();
  const int64_t before = hourly_rate(price, shape);
  for (const Count& gpu : shape.gpus) {
    Price dearer = price;
    dearer.gpu_hour = {{gpu.name, 3}};
    Price free = price;
    free.gpu_hour.clear();
    RC_ASSERT(hourly_rate(dearer, shape) - hourly_rate(free, shape) == 3 * gpu.amount);
  }
  price.gpu_hour = {{"no-such-model", 1000}};
  RC_ASSERT(hourly_rate(price, shape) <= before);
}

RC_GTEST_PROP(Charge, GrowsWithTimeAndIsNeverLessThanItsParts, ()) {
  const int64_t rate = *rc::gen::inRange<int64_t>(0, 10'000'000'000);
  const Duration a = *test::any_duration(Duration{0}, hours(1000));
  const Duration b = *test::any_duration(Duration{0}, hours(1000));
  const int64_t both = charge_for(rate, a + b);
  RC_ASSERT(both >= std::max(charge_for(rate, a), charge_for(rate, b)));
  RC_ASSERT(both <= charge_for(rate, a) + charge_for(rate, b));
  RC_ASSERT(charge_for(rate, hours(1)) == rate);
}

RC_GTEST_PROP(Charge, TenThousandUnitsNeverOverflow, ()) {
  const int64_t charge = charge_for(*test::any_between(0, k_max_price),
                                    *test::any_duration(Duration{0}, k_longest_term));
  RC_ASSERT(charge >= 0);
  RC_ASSERT(try_multiply(charge, k_max_units).has_value());
}

}  // namespace
}  // namespace spillway::model
