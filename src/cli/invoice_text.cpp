#include "cli/invoice_text.h"

#include <algorithm>
#include <set>

#include "cli/safe_text.h"

namespace spillway::cli {
namespace {

using market::InvoiceLine;
using market::InvoiceSide;
using market::InvoiceTotal;
using market::LineReason;

std::string money_text(int64_t micros, const Currency& currency) {
  return micros_to_text(micros) + " " + currency.text();
}

std::string reason_text(const InvoiceLine& line) {
  const std::string why = line.why == LineReason::minimum_term ? "minimum term"
                          : line.why == LineReason::metered    ? to_text(line.use)
                                                               : "used";
  return line.running ? "still running: " + why : why;
}

Table totals_table(const std::vector<InvoiceTotal>& totals) {
  Table table({{"SIDE"},
               {"WITH"},
               {"SETTLED", Align::right},
               {"STILL RUNNING", Align::right},
               {"TOGETHER", Align::right}});
  for (const InvoiceTotal& total : totals) {
    const int64_t sum = try_add(total.settled, total.running).value_or(INT64_MAX);
    table.add({std::string(to_text(total.side)), total.counterpart.text,
               money_text(total.settled, total.currency), money_text(total.running, total.currency),
               money_text(sum, total.currency)});
  }
  return table;
}

}  // namespace

void add_part(wire::InvoiceAnswer& whole, wire::InvoiceAnswer part) {
  std::set<ContractId> again;
  for (const InvoiceLine& line : part.lines) again.insert(line.contract);
  std::erase_if(whole.lines,
                [&](const InvoiceLine& line) { return again.contains(line.contract); });
  std::vector<InvoiceLine> lines = std::move(whole.lines);
  lines.insert(lines.end(), std::make_move_iterator(part.lines.begin()),
               std::make_move_iterator(part.lines.end()));
  whole = std::move(part);
  whole.lines = std::move(lines);
  whole.totals = market::totals_of(whole.lines, whole.cluster);
}

Table lines_table(const wire::InvoiceAnswer& invoice, const Clock& clock) {
  Table table({{"SIDE"},
               {"WITH"},
               {"CONTRACT"},
               {"UNIT", Align::right},
               {"FROM"},
               {"TIME", Align::right},
               {"RATE/H", Align::right},
               {"AMOUNT", Align::right},
               {"FOR"}});
  for (const InvoiceLine& line : invoice.lines) {
    const bool bought = line.buyer == invoice.cluster;
    table.add({std::string(to_text(bought ? InvoiceSide::bought : InvoiceSide::sold)),
               bought ? line.provider.text : line.buyer.text, line.contract.text,
               fmt::format("{}", line.unit), clock(line.from), short_time(line.time()),
               line.why == LineReason::metered ? std::string() : micros_to_text(line.rate),
               money_text(line.amount, line.currency), reason_text(line)});
  }
  return table;
}

std::string invoice_text(const wire::InvoiceAnswer& invoice, const Clock& clock, size_t width) {
  const std::string until = invoice.until ? to_text(*invoice.until) : "now";
  const std::string title = fmt::format("Invoice of {}, from {} to {}.\n",
                                        safe(invoice.cluster.text), to_text(invoice.from), until);
  if (invoice.lines.empty()) return title + "Nothing was bought or sold in that time.\n";
  return title + "\n" + lines_table(invoice, clock).text(width) + "\n" +
         totals_table(invoice.totals).text();
}

}  // namespace spillway::cli
