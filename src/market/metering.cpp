#include "market/metering.h"

#include <algorithm>

#include "market/mutants.h"

namespace spillway::market {
namespace {

using model::Contract;
using model::ContractState;
using model::EndReason;
using model::PriceBasis;
using model::Unit;

constexpr int64_t k_core_ms = 3'600'000;                 // in a core-hour
constexpr int64_t k_mib_s = int64_t{1024} * 3600;        // in a GiB-hour
constexpr int64_t k_common = 460'800'000;                // the least that both divide
constexpr int64_t k_mib_ms = (int64_t{1} << 20) * 1000;  // bytes times ms, in a MiB-second
static_assert(k_common % k_core_ms == 0 && k_common % k_mib_s == 0);

bool is_ended_by_provider(EndReason reason) {
  return reason == EndReason::noticed || reason == EndReason::reclaimed;
}

Duration time_run(const Contract& contract, const Unit& unit, Instant now) {
  const auto from = contract.paid_from(unit);
  if (!from) return {};
  if (mutant(Mutant::spare_from_start)) return paid_end(contract, now) - *contract.started;
  return std::max(Duration{}, paid_end(contract, now) - *from);
}

// What remains for use under the ceiling of `paid` time, after that time itself was paid.
int64_t use_within(const Contract& contract, const Unit& unit, Duration paid, int64_t by_time) {
  if (contract.price.basis == PriceBasis::reserved || mutant(Mutant::forget_use)) return 0;
  const int64_t ceiling = std::min(model::charge_for(contract.rate, paid), unit.reserved);
  return std::min(charge_for_use(contract.price, unit.metered), ceiling - by_time);
}

int64_t part_up(int64_t amount, int64_t ms, int64_t divisor) {
  const Int128 exact = (static_cast<Int128>(amount) * ms + (divisor - 1)) / divisor;
  return exact > model::k_max_use ? model::k_max_use : static_cast<int64_t>(exact);
}

model::Counts whole_counts(const model::Counts& counts, int64_t ms) {
  model::Counts whole;
  for (const model::Count& one : counts) {
    const int64_t amount = part_up(one.amount, ms, 1);
    if (amount > 0) whole.push_back({one.name, amount});
  }
  return whole;
}

Int128 sum_of_use(const model::Counts& prices, const model::Counts& used) {
  Int128 sum = 0;
  for (const model::Count& price : prices) {
    for (const model::Count& one : used) {
      if (price.name == one.name) sum += static_cast<Int128>(price.amount) * one.amount;
    }
  }
  return sum;
}

}  // namespace

int64_t Charge::total() const { return checked_add(checked_add(time, term), use); }

int64_t rate_by_time(const Contract& contract) {
  return contract.price.basis == PriceBasis::reserved ? contract.rate : contract.price.unit_hour;
}

Instant paid_end(const Contract& contract, Instant now) {
  return contract.state == ContractState::closing ? std::min(now, contract.deadline) : now;
}

Charge charge_of(const Contract& contract, const Unit& unit, EndReason reason, Instant now) {
  if (!contract.paid_from(unit) || mutant(Mutant::forget_charge)) return {};
  const int64_t rate = rate_by_time(contract);
  const Duration ran = time_run(contract, unit, now);
  Duration paid = ran;
  if (!is_ended_by_provider(reason) || mutant(Mutant::bind_provider)) {
    paid = std::max(ran, contract.price.minimum_term);
  }
  Charge charge;
  charge.time = std::min(model::charge_for(rate, ran), unit.reserved);
  charge.term = std::min(model::charge_for(rate, paid), unit.reserved) - charge.time;
  charge.use = use_within(contract, unit, paid, charge.time + charge.term);
  return charge;
}

Charge accrued(const Contract& contract, const Unit& unit, Instant now) {
  if (!contract.paid_from(unit) || !unit.live) return {};
  const Duration ran = time_run(contract, unit, now);
  Charge charge;
  charge.time = std::min(model::charge_for(rate_by_time(contract), ran), unit.reserved);
  charge.use = use_within(contract, unit, ran, charge.time);
  return charge;
}

model::Use whole_use(const model::Resources& shape, Duration time) {
  const int64_t ms = std::max<int64_t>(0, time.ms);
  return {.cpu_core_ms = part_up(shape.cpu_millis, ms, 1000),
          .memory_mib_s = part_up(shape.memory_bytes, ms, k_mib_ms),
          .storage_mib_s = part_up(shape.storage_bytes, ms, k_mib_ms),
          .gpu_ms = whole_counts(shape.gpus, ms),
          .extended_ms = whole_counts(shape.extended, ms)};
}

int64_t charge_for_use(const model::Price& price, const model::Use& use) {
  // No term is above 10^12 × 2^53, the names are at most 2 × 64: it stays inside an Int128.
  const Int128 by_core_ms = static_cast<Int128>(price.cpu_hour) * use.cpu_core_ms +
                            sum_of_use(price.gpu_hour, use.gpu_ms) +
                            sum_of_use(price.extended_hour, use.extended_ms);
  const Int128 by_mib_s = static_cast<Int128>(price.memory_gib_hour) * use.memory_mib_s +
                          static_cast<Int128>(price.storage_gib_hour) * use.storage_mib_s;
  const Int128 sum = by_core_ms * (k_common / k_core_ms) + by_mib_s * (k_common / k_mib_s);
  const Int128 exact = (sum + (k_common - 1)) / k_common;
  return exact > model::k_max_charge ? model::k_max_charge : static_cast<int64_t>(exact);
}

std::optional<Instant> paid_anyway_until(const Contract& contract, const Unit& unit) {
  const auto from = contract.paid_from(unit);
  if (!from || !contract.is_live()) return std::nullopt;
  if (contract.price.minimum_term.ms == 0 || is_ended_by_provider(contract.reason)) {
    return std::nullopt;
  }
  return *from + contract.price.minimum_term;
}

std::optional<Instant> paid_anyway_until(const Contract& contract) {
  std::optional<Instant> first;
  for (const Unit& unit : contract.units) {
    if (!unit.live || contract.is_spare(unit)) continue;
    const auto until = paid_anyway_until(contract, unit);
    if (!until) return std::nullopt;
    first = std::min(first.value_or(*until), *until);
  }
  return first;
}

int64_t marginal_rate(const Contract& contract, const Unit& unit, Instant now) {
  if (!unit.live || contract.is_spare(unit)) return 0;
  const auto paid = paid_anyway_until(contract, unit);
  const bool is_paid = paid && now < *paid;
  return is_paid ? contract.rate - rate_by_time(contract) : contract.rate;
}

}  // namespace spillway::market
