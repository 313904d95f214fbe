#include "market/invoice.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "market/metering.h"

namespace spillway::market {
namespace {

using model::Contract;
using model::Unit;

InvoiceLine line_on(const Contract& contract, const Unit& unit, LineReason why) {
  InvoiceLine line;
  line.contract = contract.id;
  line.unit = unit.number;
  line.buyer = contract.buyer;
  line.provider = contract.provider;
  line.offer = contract.offer;
  line.basis = contract.price.basis;
  line.why = why;
  line.currency = contract.price.currency;
  return line;
}

// What a unit came to by time, all in all: it ends at `end`, for good or so far.
struct Life {
  Instant start;
  Instant end;
  int64_t rate = 0;
  int64_t by_time = 0;
};

int64_t grown_to(const Life& life, Instant t) {
  if (t >= life.end) return life.by_time;
  return std::min(model::charge_for(life.rate, t - life.start), life.by_time);
}

void add_time(std::vector<InvoiceLine>& lines, const Contract& contract, const Unit& unit,
              const Life& life, const Window& window) {
  const Instant from = std::max(life.start, window.from);
  const Instant to = std::min(life.end, window.until);
  if (from >= to) return;
  InvoiceLine line = line_on(contract, unit, LineReason::used);
  line.running = unit.live && to == life.end;
  line.from = from;
  line.to = to;
  line.rate = life.rate;
  line.amount = grown_to(life, to) - grown_to(life, from);
  if (line.amount > 0 || line.running) lines.push_back(std::move(line));
}

void add_use(std::vector<InvoiceLine>& lines, const Contract& contract, const Unit& unit,
             const Life& life, int64_t amount) {
  if (amount == 0) return;
  InvoiceLine line = line_on(contract, unit, LineReason::metered);
  line.running = unit.live;
  line.from = life.start;
  line.to = life.end;
  line.use = unit.metered;
  line.amount = amount;
  lines.push_back(std::move(line));
}

void add_term(std::vector<InvoiceLine>& lines, const Contract& contract, const Unit& unit,
              const Life& life, int64_t amount) {
  if (amount == 0) return;
  InvoiceLine line = line_on(contract, unit, LineReason::minimum_term);
  line.from = life.end;
  line.to = std::max(life.end, life.start + contract.price.minimum_term);
  line.rate = life.rate;
  line.amount = amount;
  lines.push_back(std::move(line));
}

void add_live(std::vector<InvoiceLine>& lines, const Contract& contract, const Unit& unit,
              const Window& window, Instant now) {
  const Charge so_far = accrued(contract, unit, now);
  const Instant start = *contract.paid_from(unit);
  const Instant end = std::max(start, paid_end(contract, now));
  const Life life{start, end, rate_by_time(contract), so_far.time};
  add_time(lines, contract, unit, life, window);
  if (window.has(now)) add_use(lines, contract, unit, life, so_far.use);
}

void add_ended(std::vector<InvoiceLine>& lines, const Contract& contract, const Unit& unit,
               const Window& window) {
  // A clock that was set back, or a part of a hold that went back before the rest was confirmed.
  const Instant start = *contract.paid_from(unit);
  const Instant end = std::max(start, *unit.ended);
  const int64_t rate = rate_by_time(contract);
  const int64_t without_use = unit.charged - unit.charged_for_use;
  const int64_t by_time = std::min(model::charge_for(rate, end - start), without_use);
  const Life life{start, end, rate, by_time};
  add_time(lines, contract, unit, life, window);
  if (!window.has(end)) return;
  add_term(lines, contract, unit, life, without_use - by_time);
  add_use(lines, contract, unit, life, unit.charged_for_use);
}

int64_t add_up(int64_t a, int64_t b) { return try_add(a, b).value_or(INT64_MAX); }

}  // namespace

std::string_view to_text(LineReason why) {
  switch (why) {
    case LineReason::used:
      return "used";
    case LineReason::minimum_term:
      return "minimum-term";
    case LineReason::metered:
      return "metered";
  }
  return "unknown";
}

std::string_view to_text(InvoiceSide side) {
  return side == InvoiceSide::bought ? "bought" : "sold";
}

std::vector<InvoiceLine> lines_of(const Contract& contract, const Window& window, Instant now) {
  std::vector<InvoiceLine> lines;
  for (const Unit& unit : contract.units) {
    if (!contract.paid_from(unit)) continue;
    if (unit.live) {
      add_live(lines, contract, unit, window, now);
    } else {
      add_ended(lines, contract, unit, window);
    }
  }
  return lines;
}

std::vector<InvoiceTotal> totals_of(const std::vector<InvoiceLine>& lines, const ClusterId& party) {
  std::map<std::tuple<InvoiceSide, ClusterId, Currency>, InvoiceTotal> sums;
  for (const InvoiceLine& line : lines) {
    const bool bought = line.buyer == party;
    const InvoiceSide side = bought ? InvoiceSide::bought : InvoiceSide::sold;
    const ClusterId& counterpart = bought ? line.provider : line.buyer;
    InvoiceTotal& sum = sums[{side, counterpart, line.currency}];
    sum.side = side;
    sum.counterpart = counterpart;
    sum.currency = line.currency;
    int64_t& part = line.running ? sum.running : sum.settled;
    part = add_up(part, line.amount);
  }
  std::vector<InvoiceTotal> totals;
  for (auto& [key, sum] : sums) totals.push_back(std::move(sum));
  return totals;
}

}  // namespace spillway::market
