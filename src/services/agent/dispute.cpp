#include "services/agent/dispute.h"

#include <algorithm>

#include "market/metering.h"

namespace spillway::agent {
namespace {

using Kind = model::ContractEventKind;
using model::Contract;
using model::ContractState;
using model::EndReason;

// Two clocks, and what a signature takes on its way.
constexpr Duration k_clocks_apart = minutes(10);

template <class F>
bool any_event(const Agreed& agreed, Kind kind, F is_right) {
  return std::any_of(agreed.events.begin(), agreed.events.end(), [&](const auto& one) {
    return one.event.kind == kind && is_right(one.event);
  });
}

bool is_released(const Agreed& agreed, int32_t unit) {
  return any_event(agreed, Kind::release, [unit](const model::ContractEvent& event) {
    return event.units.empty() ||
           std::find(event.units.begin(), event.units.end(), unit) != event.units.end();
  });
}

// Given back while it was a hold, which nobody signs for: it never ran, and costs nothing.
bool is_of_the_hold(const Contract& row, const model::Unit& unit) {
  return unit.ended && *unit.ended <= *row.started && unit.charged == 0;
}

// A purchase counts when it is signed, and not when somebody finds it useful later.
std::string dispute_purchases(const Contract& row, const Agreed& agreed) {
  for (const model::Unit& unit : row.units) {
    if (!unit.bought) continue;
    const bool is_signed =
        any_event(agreed, Kind::purchase, [&](const model::ContractEvent& event) {
          const bool names_it =
              std::find(event.units.begin(), event.units.end(), unit.number) != event.units.end();
          return names_it && *unit.bought >= event.at - k_clocks_apart &&
                 *unit.bought <= event.at + k_clocks_apart;
        });
    if (is_signed) continue;
    return fmt::format("unit {} is bought since {}, and its buyer signed no such purchase",
                       unit.number, to_text(*unit.bought));
  }
  return {};
}

// Only the buyer ends single units; a whole contract also ends by other ways.
std::string dispute_units(const Contract& row, const Agreed& agreed) {
  const bool others_end_it =
      row.state == ContractState::closed && row.reason != EndReason::released;
  if (others_end_it || !row.started) return {};
  for (const model::Unit& unit : row.units) {
    if (unit.live || is_of_the_hold(row, unit) || is_released(agreed, unit.number)) continue;
    return fmt::format("unit {} is released, and its buyer signed no release of it", unit.number);
  }
  return {};
}

// Money and lease run from the provider's signature, by the broker's clock. Both come to the book
// in one commit, so who hides when it was signed has a reason.
std::string dispute_start(const Contract& row, const Agreed& agreed) {
  bool is_dated = false;
  for (const auto& one : agreed.events) {
    if (one.event.kind != Kind::accepted) continue;
    is_dated = true;
    if (*row.started >= one.event.at - k_clocks_apart) continue;
    return fmt::format("it began at {}, and its provider signed at {}", to_text(*row.started),
                       to_text(one.event.at));
  }
  return is_dated ? std::string() : "it is active, and when its provider signed is not shown";
}

const model::Use* signed_use(const Agreed& agreed, int32_t unit) {
  const model::Use* most = nullptr;
  for (const auto& one : agreed.events) {
    for (const model::MeteredUse& use : one.event.used) {
      const bool is_more = most == nullptr || use.use.covers(*most);
      if (use.unit == unit && is_more) most = &use.use;
    }
  }
  return most;
}

// What a unit can have come to at most, by what was signed and when it ended.
std::string dispute_charge(const Contract& row, const Agreed& agreed, const model::Unit& unit) {
  const model::Use* use = signed_use(agreed, unit.number);
  if (!unit.metered.is_zero() && (use == nullptr || !use->covers(unit.metered))) {
    return fmt::format("more is metered of unit {} than its provider signed", unit.number);
  }
  if (unit.live) return {};
  const Duration leave = std::max(row.terms.notice, row.terms.drain);
  if (*unit.ended > signed_until(row, agreed) + leave) {
    return fmt::format("unit {} ended at {}, and its buyer signed until {} at most", unit.number,
                       to_text(*unit.ended), to_text(signed_until(row, agreed)));
  }
  // A unit that was given back before ended by its buyer, however the contract ended later.
  const EndReason reason = is_released(agreed, unit.number) ? EndReason::released : row.reason;
  model::Unit unbounded = unit;
  unbounded.reserved = model::k_max_charge;  // what was set aside is the book's to know
  const int64_t most = market::charge_of(row, unbounded, reason, *unit.ended).total();
  if (unit.charged <= most) return {};
  return fmt::format("unit {} is charged {}, and comes to {} at most", unit.number,
                     micros_to_text(unit.charged), micros_to_text(most));
}

std::string dispute_money(const Contract& row, const Agreed& agreed) {
  if (!row.started) return {};
  for (const model::Unit& unit : row.units) {
    std::string wrong = dispute_charge(row, agreed, unit);
    if (!wrong.empty()) return wrong;
  }
  return {};
}

std::string dispute_times(const Contract& row, const Agreed& agreed) {
  if (!row.started) return {};
  if (!agreed.complete) return "it is active, and its provider has not signed it";
  if (std::string start = dispute_start(row, agreed); !start.empty()) return start;
  const Instant sign_by = signed_sign_by(agreed) + agreed.agreement.agreement.terms.grace;
  if (*row.started > sign_by) {
    return fmt::format("it began at {}, and could be signed until {}", to_text(*row.started),
                       to_text(sign_by));
  }
  const Instant until = signed_until(row, agreed);
  if (row.state == ContractState::active && row.deadline > until) {
    return fmt::format("its lease ends at {}, and its buyer signed until {} at most",
                       to_text(row.deadline), to_text(until));
  }
  const Instant left = until + std::max(row.terms.notice, row.terms.drain);
  if (row.state == ContractState::closing && row.deadline > left) {
    return fmt::format("it is over at {}, and its buyer signed until {} at most",
                       to_text(row.deadline), to_text(until));
  }
  const bool is_noticed = row.reason == EndReason::noticed;
  const auto any = [](const model::ContractEvent&) { return true; };
  if (is_noticed && !any_event(agreed, Kind::notice, any)) {
    return "it ends by notice, and its provider signed none";
  }
  return {};
}

}  // namespace

Instant signed_sign_by(const Agreed& agreed) {
  Instant latest = agreed.agreement.agreement.sign_by;
  for (const auto& one : agreed.events) {
    if (one.event.kind == Kind::extension) latest = std::max(latest, *one.event.until);
  }
  return latest;
}

Instant signed_until(const Contract& row, const Agreed& agreed) {
  const model::AgreedTerms& terms = agreed.agreement.agreement.terms;
  Instant until = row.started.value_or(row.created) + terms.lease;
  for (const auto& one : agreed.events) {
    if (one.event.kind == Kind::renewal) until = std::max(until, *one.event.until);
  }
  return until + terms.grace;
}

std::string dispute(const Contract& row, const Agreed& agreed) {
  if (row.agreement != agreed.agreement.id) {
    return row.agreement.empty() ? std::string("it is called unsigned, and was signed")
                                 : "it names another agreement than ours";
  }
  if (const auto what = difference(agreed.agreement.agreement, row); !what.empty()) {
    return fmt::format("its {} is not what was agreed", what);
  }
  if (std::string times = dispute_times(row, agreed); !times.empty()) return times;
  if (std::string units = dispute_units(row, agreed); !units.empty()) return units;
  if (std::string bought = dispute_purchases(row, agreed); !bought.empty()) return bought;
  return dispute_money(row, agreed);
}

}  // namespace spillway::agent
