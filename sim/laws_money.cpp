// The laws on money: what a unit comes to, worked out anew; and invoices against what was charged.
#include <algorithm>

#include "market/invoice.h"
#include "sim/laws.h"

namespace spillway::sim {
namespace {

using model::Contract;
using model::ContractState;
using model::EndReason;

constexpr Int128 k_hour = 3'600'000;  // ms

bool is_seller_ending(EndReason reason) {
  return reason == EndReason::noticed || reason == EndReason::reclaimed;
}

bool is_per_use(const Contract& contract) {
  return contract.price.basis == model::PriceBasis::pay_per_use;
}

int64_t rounded_up(Int128 amount, Int128 per) {
  return static_cast<int64_t>((amount + per - 1) / per);
}

int64_t by_time(const Contract& contract, Duration time) {
  return rounded_up(
      Int128{is_per_use(contract) ? contract.price.unit_hour : contract.rate} * time.ms, k_hour);
}

// A core-hour has 3,600,000 core-milliseconds, a GiB-hour 1024 × 3600 MiB-seconds: both over 1024
// hours in milliseconds.
int64_t by_use(const Contract& contract, const model::Use& use, Duration paid) {
  if (!is_per_use(contract)) return 0;
  const model::Price& price = contract.price;
  Int128 sum = Int128{price.cpu_hour} * use.cpu_core_ms * 1024;
  sum += Int128{price.memory_gib_hour} * use.memory_mib_s * 1000;
  for (const model::Count& gpu : use.gpu_ms) {
    for (const model::Count& rate : price.gpu_hour) {
      if (rate.name == gpu.name) sum += Int128{rate.amount} * gpu.amount * 1024;
    }
  }
  const int64_t whole_shape = rounded_up(Int128{contract.rate} * paid.ms, k_hour);
  return std::min(rounded_up(sum, k_hour * 1024), whole_shape - by_time(contract, paid));
}

// Whether the shape could have been used so much in that time, to the unit that it is counted in.
bool is_possible(const Contract& contract, const model::Use& use, Duration time) {
  const Int128 ms = time.ms;
  const model::Resources& shape = contract.shape;
  bool possible = Int128{use.cpu_core_ms} * 1000 < shape.cpu_millis * ms + 1000 &&
                  (Int128{use.memory_mib_s} << 20) * 1000 < shape.memory_bytes * ms + (1000 << 20);
  for (const model::Count& gpu : use.gpu_ms) {
    Int128 most = 0;
    for (const model::Count& has : shape.gpus) {
      if (has.name == gpu.name) most = has.amount * ms;
    }
    possible = possible && gpu.amount <= most;
  }
  return possible;
}

}  // namespace

void Laws::check_metered(const Contract& before, const Contract& after, Instant at) {
  for (size_t i = 0; i < after.units.size(); ++i) {
    const model::Use& was = before.units[i].metered;
    const model::Use& is = after.units[i].metered;
    if (was == is) continue;
    expect(is.covers(was), 1,
           fmt::format("contract {}: a reading took back what was metered", after.id.text));
    const auto& since = after.spare ? after.units[i].bought : after.started;
    expect(is_per_use(after) && since && is_possible(after, is, at - *since), 1,
           fmt::format("contract {}: more was metered than its unit could use", after.id.text));
    expect(before.units[i].live, 1,
           fmt::format("contract {}: a unit that had ended was metered", after.id.text));
  }
}

// What is over is not paid for any longer, however late the broker sees it.
Instant Laws::paid_until(const Contract& before, const Contract& after, Instant at) const {
  if (before.state == ContractState::closing) return std::min(at, before.deadline);
  if (after.reason != EndReason::lapsed) return at;
  return std::min(at, lease_end_of(before) + after.terms.drain);
}

// Time at the rate, at least the minimum term unless the provider ended it, and what was metered,
// at most the whole shape: each rounded up.
void Laws::check_charges(const Contract& before, const Contract& after, Instant at) {
  if (before.state == ContractState::hold) return;  // one batch may release first, then confirm
  const Instant end = paid_until(before, after, at);
  const bool told_now = is_seller_ending(after.reason) && !is_seller_ending(before.reason);
  for (size_t i = 0; i < after.units.size(); ++i) {
    const model::Unit& unit = after.units[i];
    if (!before.units[i].live || unit.live) continue;
    if (after.spare && !unit.bought) {
      expect(unit.charged == 0, 1, fmt::format("contract {}: a spare was charged", after.id.text));
      continue;
    }
    const Instant start = after.spare ? *unit.bought : *after.started;
    const Duration ran{std::max<int64_t>(0, end.ms - start.ms)};
    const Duration bound = std::max(ran, after.price.minimum_term);
    const int64_t bare = by_time(after, ran) + by_use(after, unit.metered, ran);
    const int64_t with_minimum = by_time(after, bound) + by_use(after, unit.metered, bound);
    const int64_t expected = is_seller_ending(after.reason) ? bare : with_minimum;
    if (expected > before.units[i].reserved) continue;  // capped, or renewed in the same commit
    // In one batch a unit may have been released before the provider gave notice on the rest.
    expect(unit.charged == expected || (told_now && unit.charged == with_minimum), 1,
           fmt::format("contract {}: a unit came to {}, was charged {}", after.id.text,
                       micros_to_text(expected), micros_to_text(unit.charged)));
    expect(unit.ended == end, 1,
           fmt::format("contract {}: a unit is not paid for until its end", after.id.text));
  }
}

// Invoices of both sides, in pieces of an odd length: all that was charged, nothing else.
void Laws::check_invoices() {
  const Instant now = clock_();
  constexpr Duration k_piece = milliseconds(97'003);
  std::map<Currency, int64_t> charged;
  std::map<Currency, int64_t> invoiced;
  for (const auto& [key, row] : rows_.all()) {
    const auto* contract = held<Contract>(row.record);
    if (contract == nullptr) continue;
    for (const model::Unit& unit : contract->units) {
      charged[contract->price.currency] += unit.charged;
    }
    const Instant last = contract->is_live() ? now : std::min(now, contract->deadline);
    for (Instant from = contract->created; from <= last; from = from + k_piece) {
      for (const auto& line : market::lines_of(*contract, {from, from + k_piece}, now)) {
        if (!line.running) invoiced[line.currency] += line.amount;
      }
    }
  }
  for (const auto& [currency, amount] : charged) {
    expect(invoiced[currency] == amount, 1,
           fmt::format("{} {} was charged, invoices come to {}", micros_to_text(amount),
                       currency.text(), micros_to_text(invoiced[currency])));
  }
}

}  // namespace spillway::sim
