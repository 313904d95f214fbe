// What a unit of an offer costs.
//
// A rate per unit-hour and rates per resource-hour add up. `reserved`: the whole shape is paid
// for as long as the unit is held active. `pay_per_use`: the resource rates apply to what was
// metered, the unit rate to time; the whole shape is the ceiling that budgets count with. Either
// way a unit is paid for at least `minimum_term`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/money.h"
#include "base/time.h"
#include "model/resources.h"

namespace spillway::model {

enum class PriceBasis { reserved, pay_per_use };

struct Price {
  Currency currency;
  PriceBasis basis = PriceBasis::reserved;
  int64_t unit_hour = 0;  // micro-units of currency, as all below
  int64_t cpu_hour = 0;   // per core
  int64_t memory_gib_hour = 0;
  int64_t storage_gib_hour = 0;
  Counts gpu_hour;       // by model
  Counts extended_hour;  // by resource name
  Duration minimum_term;

  bool operator==(const Price&) const = default;
};

// A million currency units an hour, also for currencies with small units. Times 2^50 of a resource
// it stays inside an Int128; validation of offers keeps the rate below it too.
inline constexpr int64_t k_max_price = int64_t{1'000'000'000'000};

// What one unit can come to at most. Two parties may agree on an absurd price and let it run for
// years: the charge stops here, so that 10,000 units together stay inside an int64.
inline constexpr int64_t k_max_charge = INT64_MAX / 10'000;

// Micro-units per hour for one unit of `shape` in full use, rounded up once. This is the rate that
// a contract fixes; every charge derives from it. Aborts when it leaves the range of int64, which
// it cannot for a valid offer; nullopt, for what is not validated yet, above k_max_price.
int64_t hourly_rate(const Price& price, const Resources& shape);
std::optional<int64_t> try_hourly_rate(const Price& price, const Resources& shape);

// What `rate` comes to over `time`, rounded up to the micro-unit; at most k_max_charge. Nothing
// for no time and for less: a clock that was set back charges nobody.
int64_t charge_for(int64_t rate, Duration time);

// No negative price, none above k_max_price; the minimum term at most 10 years.
Status validate(const Price& price);

// One amount of money by the same rule; `low` is 0, or 1 where a zero would say nothing.
Status check_amount(std::string_view path, int64_t micros, int64_t low = 0);

}  // namespace spillway::model
