#include "model/price.h"

#include <algorithm>
#include <string>

#include "base/arithmetic.h"
#include "base/text.h"
#include "model/limits.h"
#include "model/validation.h"

namespace spillway::model {
namespace {

constexpr int64_t k_millis_per_core = 1000;
constexpr int64_t k_bytes_per_gib = int64_t{1} << 30;
constexpr int64_t k_ms_per_hour = 3'600'000;

// Price times amount over the names that both lists have.
Int128 sum_of_products(const Counts& prices, const Counts& amounts) {
  Int128 sum = 0;
  auto price = prices.begin();
  for (const Count& count : amounts) {
    while (price != prices.end() && price->name < count.name) ++price;
    if (price == prices.end()) break;
    if (price->name == count.name) sum += static_cast<Int128>(price->amount) * count.amount;
  }
  return sum;
}

Int128 exact_rate(const Price& price, const Resources& shape) {
  const Int128 cpu = static_cast<Int128>(price.cpu_hour) * shape.cpu_millis;
  const Int128 bytes = static_cast<Int128>(price.memory_gib_hour) * shape.memory_bytes +
                       static_cast<Int128>(price.storage_gib_hour) * shape.storage_bytes;
  Int128 rate = price.unit_hour + cpu / k_millis_per_core + bytes / k_bytes_per_gib;
  if (!price.gpu_hour.empty()) rate += sum_of_products(price.gpu_hour, shape.gpus);
  if (!price.extended_hour.empty()) rate += sum_of_products(price.extended_hour, shape.extended);
  // The two fractions over their common denominator, so that rounding happens once.
  const Int128 whole = static_cast<Int128>(k_millis_per_core) * k_bytes_per_gib;
  const Int128 fraction =
      cpu % k_millis_per_core * k_bytes_per_gib + bytes % k_bytes_per_gib * k_millis_per_core;
  return rate + (fraction + whole - 1) / whole;
}

Status check_prices(std::string_view path, const Counts& prices) {
  SPILLWAY_TRY(check_size(path, prices.size(), k_max_names));
  const std::string* last = nullptr;
  for (const Count& price : prices) {
    if (price.name.empty() || !is_qualified_name(price.name)) {
      return refuse(path, in_quotes(price.name) + " is no name of a resource");
    }
    if (last != nullptr && *last >= price.name) {
      return refuse(path, in_quotes(price.name) + " is out of order or there twice",
                    "sort by name, each once");
    }
    SPILLWAY_TRY(under(path, check_amount(price.name, price.amount, 1)));
    last = &price.name;
  }
  return {};
}

}  // namespace

int64_t hourly_rate(const Price& price, const Resources& shape) {
  return checked_narrow(exact_rate(price, shape));
}

std::optional<int64_t> try_hourly_rate(const Price& price, const Resources& shape) {
  const Int128 rate = exact_rate(price, shape);
  if (rate < 0 || rate > k_max_price) return std::nullopt;
  return static_cast<int64_t>(rate);
}

int64_t charge_for(int64_t rate, Duration time) {
  SPILLWAY_CHECK(rate >= 0, "a negative rate");
  if (time.ms <= 0) return 0;
  const Int128 exact = (static_cast<Int128>(rate) * time.ms + (k_ms_per_hour - 1)) / k_ms_per_hour;
  return exact > k_max_charge ? k_max_charge : static_cast<int64_t>(exact);
}

Status check_amount(std::string_view path, int64_t micros, int64_t low) {
  if (micros >= low && micros <= k_max_price) return {};
  return refuse(path, micros_to_text(micros) + (micros < 0 ? " is negative" : " is out of range"),
                "use " + micros_to_text(low) + " to " + micros_to_text(k_max_price));
}

Status validate(const Price& price) {
  SPILLWAY_TRY(check_currency("currency", price.currency));
  SPILLWAY_TRY(check_amount("unit_hour", price.unit_hour));
  SPILLWAY_TRY(check_amount("cpu_hour", price.cpu_hour));
  SPILLWAY_TRY(check_amount("memory_gib_hour", price.memory_gib_hour));
  SPILLWAY_TRY(check_amount("storage_gib_hour", price.storage_gib_hour));
  SPILLWAY_TRY(check_prices("gpu_hour", price.gpu_hour));
  SPILLWAY_TRY(check_prices("extended_hour", price.extended_hour));
  return check_range("minimum_term", price.minimum_term, Duration{0}, k_longest_term);
}

}  // namespace spillway::model
