// Holds invoices against the rows that they are made from: says what does not add up. Amounts are
// taken from the rows, so nothing is shared with market/invoice but its lines.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "market/invoice.h"
#include "market/metering.h"
#include "support/memory_rows.h"

namespace spillway::test {

inline constexpr market::Window k_all_time{k_first_instant, {k_last_instant.ms + 1}};

// All of time, cut at these instants.
inline std::vector<market::Window> windows_between(std::vector<Instant> cuts) {
  std::sort(cuts.begin(), cuts.end());
  std::vector<market::Window> windows;
  Instant from = k_all_time.from;
  for (const Instant cut : cuts) {
    windows.push_back({from, cut});
    from = cut;
  }
  windows.push_back({from, k_all_time.until});
  return windows;
}

// What units come to: what an ended one was charged, what a live one has come to so far.
inline std::map<int32_t, int64_t> owed_by_unit(const model::Contract& contract, Instant now) {
  std::map<int32_t, int64_t> owed;
  for (const model::Unit& unit : contract.units) {
    const int64_t amount = unit.live ? market::accrued(contract, unit, now).total() : unit.charged;
    if (amount > 0) owed[unit.number] = amount;
  }
  return owed;
}

inline std::vector<std::string> check_invoices(const MemoryRows& rows,
                                               const std::vector<Instant>& cuts, Instant now) {
  std::vector<std::string> wrong;
  std::map<std::string, std::vector<market::InvoiceLine>> by_party;
  for (const auto& [key, stored] : rows.all()) {
    const auto* contract = rows.get<model::Contract>(key);
    if (contract == nullptr) continue;
    std::map<int32_t, int64_t> sums;
    for (const market::Window& window : windows_between(cuts)) {
      for (const market::InvoiceLine& line : market::lines_of(*contract, window, now)) {
        if (line.amount < 0) wrong.push_back(key.id + ": a line below zero");
        if (line.amount > 0) sums[line.unit] += line.amount;
      }
    }
    if (sums != owed_by_unit(*contract, now)) {
      wrong.push_back(key.id + ": the parts are not the whole");
    }
    for (const market::InvoiceLine& line : market::lines_of(*contract, k_all_time, now)) {
      by_party[line.buyer.text].push_back(line);
      by_party[line.provider.text].push_back(line);
    }
  }
  std::map<Currency, int64_t> owed;
  std::map<Currency, int64_t> due;
  for (const auto& [party, lines] : by_party) {
    const auto* account = rows.get<market::AccountRecord>(market::account_key(ClusterId(party)));
    std::map<Currency, int64_t> settled;
    for (const market::InvoiceTotal& total : market::totals_of(lines, ClusterId(party))) {
      const bool bought = total.side == market::InvoiceSide::bought;
      (bought ? owed : due)[total.currency] += total.settled + total.running;
      if (bought) settled[total.currency] += total.settled;
    }
    for (const market::Purse& purse : account->purses) {
      if (purse.spent != settled[purse.currency]) {
        wrong.push_back(party + ": invoices are not what was spent");
      }
    }
  }
  if (owed != due) wrong.emplace_back("what buyers owe is not what sellers are due");
  return wrong;
}

}  // namespace spillway::test
