// Metering: a unit's life → what it owes.
//
// Rules
//   reserved     the rate of the whole shape × the time from active to end
//   pay per use  the unit price × that time, and resource prices × what was metered; together never
//                more than the whole shape for that time
//   A unit that its buyer ends (released, lapsed) is paid for at least the minimum term; one that
//   the provider ends (noticed, reclaimed) for the time only. Never more than was set aside for it.
// Rounding
//   Time, minimum term and use are a part each, rounded up once to the micro-unit; what was charged
//   is their sum. What a buyer owes is what the seller is due: there is one amount, and no fee.
#pragma once

#include <cstdint>
#include <optional>

#include "model/contract.h"

namespace spillway::market {

struct Charge {
  int64_t time = 0;
  int64_t term = 0;  // what the minimum term adds to the time
  int64_t use = 0;

  bool operator==(const Charge&) const = default;
  int64_t total() const;
};

// A unit that ends now for this reason.
Charge charge_of(const model::Contract& contract, const model::Unit& unit, model::EndReason reason,
                 Instant now);
// A live unit so far: its time and use. Nothing before the contract is active.
Charge accrued(const model::Contract& contract, const model::Unit& unit, Instant now);

// Up to when a unit that ends now is paid for by time: a broker that closes late does not make the
// buyer pay for its lateness.
Instant paid_end(const model::Contract& contract, Instant now);
// What an hour costs that nothing is metered in.
int64_t rate_by_time(const model::Contract& contract);

// All of `shape` for that time, rounded up; what no reading can exceed.
model::Use whole_use(const model::Resources& shape, Duration time);
// Resource prices × use, rounded up; at most model::k_max_charge.
int64_t charge_for_use(const model::Price& price, const model::Use& use);

// Until then live units are paid for anyway, unless the provider ends them: their minimum term.
// Nothing when there is none, or it is the provider that ends them.
std::optional<Instant> paid_anyway_until(const model::Contract& contract, const model::Unit& unit);
// Of all its live units that are no spares.
std::optional<Instant> paid_anyway_until(const model::Contract& contract);
// What another hour of this unit costs its buyer, in full use: nothing by time while it is paid for
// anyway; nothing at all once it has ended.
int64_t marginal_rate(const model::Contract& contract, const model::Unit& unit, Instant now);

}  // namespace spillway::market
