// Invoice: contracts and a window of time → lines, and what they come to.
//
// Assumptions
//   - a contract's row says all that is needed, for as long as it is kept: rows are never deleted.
//   - times are the store's. What has passed of a unit's time is settled and does not change.
// Algorithm
//   By time: what a unit has come to at an instant only grows, and is rounded up once; a window has
//   what it grew by in it. So whatever windows there are, the parts sum to the whole.
//   The minimum term and what was metered are owed at once when the unit ends, and stand in the
//   window of that end. Until then what was metered stands, as running, in the window of now.
// Both sides read the same lines: what the buyer owes is what the provider is due.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/contract.h"

namespace spillway::market {

struct Window {
  Instant from;
  Instant until;  // exclusive

  bool has(Instant t) const { return from <= t && t < until; }
};

enum class LineReason { used, minimum_term, metered };
std::string_view to_text(LineReason why);

struct InvoiceLine {
  ContractId contract;
  int32_t unit = 0;
  ClusterId buyer;
  ClusterId provider;
  OfferId offer;
  model::PriceBasis basis = model::PriceBasis::reserved;
  LineReason why = LineReason::used;
  bool running = false;  // accrued so far: it still grows
  Instant from;          // used: in this window. minimum_term: beyond the end of the unit
  Instant to;            // metered: from its start to its end, or until now
  int64_t rate = 0;      // micro-units per hour; not of what was metered
  model::Use use;        // metered
  int64_t amount = 0;
  Currency currency;

  bool operator==(const InvoiceLine&) const = default;
  Duration time() const { return to - from; }
};

// The lines of one contract, by unit. None for what comes to nothing.
std::vector<InvoiceLine> lines_of(const model::Contract& contract, const Window& window,
                                  Instant now);

enum class InvoiceSide { bought, sold };
std::string_view to_text(InvoiceSide side);

struct InvoiceTotal {
  InvoiceSide side = InvoiceSide::bought;
  ClusterId counterpart;
  Currency currency;
  int64_t settled = 0;
  int64_t running = 0;

  bool operator==(const InvoiceTotal&) const = default;
};

// As `party` sees them: by side, counterpart and currency, in order. Prices are claims of
// outsiders: a sum that leaves the range of int64 stays at its end.
std::vector<InvoiceTotal> totals_of(const std::vector<InvoiceLine>& lines, const ClusterId& party);

}  // namespace spillway::market
