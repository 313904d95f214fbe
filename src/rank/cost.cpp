#include "rank/cost.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/money.h"
#include "model/limits.h"
#include "model/price.h"
#include "rank/filters.h"
#include "rank/sphere.h"

namespace spillway::rank {
namespace {

// What the bounds in model/ let a term come to; three of them are far from the end of int64.
static_assert(static_cast<Int128>(model::k_max_milliwatts) * model::k_max_carbon *
                      model::k_max_price / 1'000'000'000 <=
                  INT64_MAX / 4 &&
              static_cast<Int128>(model::k_max_price) * model::k_max_permille <= INT64_MAX);

// a × b / divisor, rounded up. None is negative. Nearly always the product fits an int64, and then
// the division is ten times as fast.
int64_t share_up(int64_t a, int64_t b, int64_t divisor) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product) && product <= INT64_MAX - divisor) [[likely]] {
    return (product + divisor - 1) / divisor;
  }
  return multiply_divide_up(a, b, divisor);
}

// 12400 → "12.4": the shortest exact decimal of thousandths.
std::string thousandths(int64_t value) { return micros_to_text(checked_multiply(value, 1000)); }

class MoneyTerm final : public CostTerm {
 public:
  explicit MoneyTerm(const model::Intent& intent) : intent_(intent) {}

  int64_t amount(const Row& row) const override {
    return share_up(row.rate, intent_.worth.money_permille, 1000);
  }
  Bounds bounds(const Row& row) const override {
    const int64_t exact = amount(row);
    return {exact, exact};
  }
  Term explain(const Row& row) const override {
    std::string how = to_text(Money{row.rate, unpack_currency(row.currency)}) + "/h";
    if (intent_.worth.money_permille != 1000) {
      how += " × " + thousandths(intent_.worth.money_permille);
    }
    return {"money", amount(row), std::move(how), false};
  }

 private:
  const model::Intent& intent_;
};

class CarbonTerm final : public CostTerm {
 public:
  CarbonTerm(const model::Intent& intent, Instant now) : intent_(intent), now_(now) {}

  int64_t amount(const Row& row) const override {
    // Both bounded, stated or not (model/limits.h): at most 10^9 × 10^4.
    const int64_t milliwatt_grams = milliwatts_of(row).value * carbon_of(row, now_).value;
    return share_up(milliwatt_grams, intent_.worth.carbon_kg, 1'000'000'000);
  }
  Bounds bounds(const Row& row) const override {
    const int64_t exact = amount(row);
    return {exact, exact};
  }
  Term explain(const Row& row) const override {
    const Stated power = milliwatts_of(row);
    const Stated carbon = carbon_of(row, now_);
    return {"carbon", amount(row),
            fmt::format("{} W{} × {} g/kWh{} × {}/kg", thousandths(power.value),
                        power.estimated ? " (estimated)" : "", carbon.value,
                        carbon.estimated ? " (assumed)" : "",
                        to_text(Money{intent_.worth.carbon_kg, intent_.currency})),
            power.estimated || carbon.estimated};
  }

 private:
  const model::Intent& intent_;
  Instant now_;
};

class DistanceTerm final : public CostTerm {
 public:
  explicit DistanceTerm(const model::Intent& intent)
      : intent_(intent),
        near_(direction_of(intent.near->latitude_microdegrees,
                           intent.near->longitude_microdegrees)) {}

  int64_t amount(const Row& row) const override {
    return amount_for(exact_metres(*intent_.near, row));
  }
  Bounds bounds(const Row& row) const override {
    const int64_t metres = roughly_metres(near_, row.direction);
    return {amount_for(std::max<int64_t>(metres - k_slack_metres, 0)),
            amount_for(metres + k_slack_metres)};
  }
  Term explain(const Row& row) const override {
    const int64_t metres = exact_metres(*intent_.near, row);
    return {"distance", amount_for(metres),
            fmt::format("{} km × {}/1000 km", thousandths(metres),
                        to_text(Money{intent_.worth.distance_1000km, intent_.currency})),
            false};
  }

 private:
  int64_t amount_for(int64_t metres) const {
    return share_up(metres, intent_.worth.distance_1000km, 1'000'000);
  }

  const model::Intent& intent_;
  Direction near_;
};

}  // namespace

Stated milliwatts_of(const Row& row) {
  if (row.unit_milliwatts >= 0) return {row.unit_milliwatts, false};
  Int128 estimate = static_cast<Int128>(row.cpu_millis) * k_estimated_milliwatts_per_core / 1000;
  for (uint32_t i = 0; i < row.packed.gpus(); ++i) {
    estimate += static_cast<Int128>(row.packed.gpu(i).amount) * k_estimated_milliwatts_per_gpu;
  }
  constexpr Int128 k_most = model::k_max_milliwatts;
  return {static_cast<int64_t>(std::min(estimate, k_most)), true};
}

Stated carbon_of(const Row& row, Instant now) {
  const std::optional<int32_t> carbon = row.packed.carbon_at(now);
  return carbon ? Stated{*carbon, false} : Stated{k_assumed_carbon, true};
}

std::vector<std::unique_ptr<CostTerm>> cost_terms(const model::Intent& intent, Instant now) {
  std::vector<std::unique_ptr<CostTerm>> terms;
  terms.push_back(std::make_unique<MoneyTerm>(intent));
  if (intent.worth.carbon_kg != 0) terms.push_back(std::make_unique<CarbonTerm>(intent, now));
  if (intent.worth.distance_1000km != 0 && intent.near) {
    terms.push_back(std::make_unique<DistanceTerm>(intent));
  }
  return terms;
}

}  // namespace spillway::rank
