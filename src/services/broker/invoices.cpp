// Invoices of a member, as buyer and as seller: what lives first, then what has ended, in pages.
//
// The store finds both by indexes, so a page costs what is on it, however long the history is. A
// contract that ends between two pages may be on both, and is never on none: that is why what lives
// comes first.
#include <algorithm>
#include <charconv>

#include "services/broker/body.h"
#include "services/broker/handlers.h"
#include "services/broker/own_contracts.h"

namespace spillway::services {
namespace {

constexpr size_t k_most_lines = 10'000;  // no further contract after these
constexpr std::string_view k_live = "live/";
constexpr std::string_view k_ended = "ended/";

struct InvoiceWanted {
  ClusterId cluster;
  market::Window window{k_first_instant, {k_last_instant.ms + 1}};
  std::optional<Instant> until;
  bool bought = true;
  bool sold = true;
  int32_t limit = 100;
  bool live = true;    // the first page, or one of what lives
  std::string after;   // an id
  Instant ended_from;  // of what has ended
};

bool refuse_parameter(Desk& desk, Call& call, std::string_view name, std::string reason,
                      std::string next) {
  refuse(desk, call, {Code::invalid, std::string(name), std::move(reason), std::move(next)});
  return false;
}

bool take_time(Desk& desk, Call& call, std::string_view name, std::optional<Instant>& time) {
  const std::string* text = call.target.parameter(name);
  if (text == nullptr) return true;
  const auto parsed = parse_instant(*text);
  if (!parsed) {
    return refuse_parameter(desk, call, name, parsed.error().reason,
                            "write a time such as 2026-01-31T00:00:00Z");
  }
  time = *parsed;
  return true;
}

bool take_window(Desk& desk, Call& call, InvoiceWanted& wanted) {
  std::optional<Instant> from;
  if (!take_time(desk, call, "from", from) || !take_time(desk, call, "until", wanted.until)) {
    return false;
  }
  if (from) wanted.window.from = *from;
  if (wanted.until) wanted.window.until = *wanted.until;
  if (wanted.window.from < wanted.window.until) return true;
  return refuse_parameter(desk, call, "until", "it is not after `from`", "ask for a later one");
}

bool take_side(Desk& desk, Call& call, InvoiceWanted& wanted) {
  const std::string* side = call.target.parameter("side");
  if (side == nullptr) return true;
  wanted.bought = *side == "bought";
  wanted.sold = *side == "sold";
  return wanted.bought || wanted.sold ||
         refuse_parameter(desk, call, "side", "it is neither bought nor sold",
                          "name one of them, or none for both");
}

// Whose: one's own, or anybody's for those who oversee.
bool take_cluster(Desk& desk, Call& call, InvoiceWanted& wanted) {
  const std::string* name = call.target.parameter("cluster");
  if (const Status status = name == nullptr ? Status{} : check_cluster_id(*name); !status) {
    return refuse_parameter(desk, call, "cluster", status.error().reason, status.error().next);
  }
  if (call.scope == Scope::all) {
    if (name == nullptr) {
      return refuse_parameter(desk, call, "cluster", "it is missing",
                              "say whose invoice you want to see");
    }
    wanted.cluster = ClusterId(*name);
    return true;
  }
  wanted.cluster = call.cluster();
  if (name == nullptr || *name == call.caller.name) return true;
  refuse(desk, call, missing("invoice of", *name));
  return false;
}

// "live/<id>" and "ended/<time>/<id>", as `next` gave it.
bool take_place(Desk& desk, Call& call, std::string_view after, InvoiceWanted& wanted) {
  wanted.ended_from = wanted.window.from;
  if (after.empty()) return true;
  if (after.starts_with(k_live)) {
    wanted.after = after.substr(k_live.size());
    return true;
  }
  wanted.live = false;
  if (after.starts_with(k_ended)) {
    after.remove_prefix(k_ended.size());
    const auto [end, error] =
        std::from_chars(after.data(), after.data() + after.size(), wanted.ended_from.ms);
    if (error == std::errc{} && end != after.data() + after.size() && *end == '/') {
      wanted.after = std::string(end + 1, after.data() + after.size());
      return true;
    }
  }
  return refuse_parameter(desk, call, "after", "it is no place in an invoice",
                          "pass `next` of the page before as it is");
}

bool read_wanted(Desk& desk, Call& call, InvoiceWanted& wanted) {
  PageAsked page;
  if (!page_asked(desk, call, page) || !take_cluster(desk, call, wanted) ||
      !take_window(desk, call, wanted) || !take_side(desk, call, wanted)) {
    return false;
  }
  wanted.limit = page.limit;
  return take_place(desk, call, page.after, wanted);
}

std::vector<host::Scan> scans_of_ended(const InvoiceWanted& wanted) {
  const PageAsked page{wanted.live ? std::string() : wanted.after, wanted.limit};
  std::vector<host::Scan> scans;
  for (const auto by : {host::Scan::By::bought, host::Scan::By::sold}) {
    host::Scan& scan =
        scans.emplace_back(scan_of(market::Kind::contract, by, wanted.cluster.text, page));
    scan.ended_from = wanted.ended_from;
  }
  return scans;
}

// A page under way: contracts are added in their order, as long as there is room.
class InvoicePage {
 public:
  InvoicePage(const InvoiceWanted& wanted, Instant now) : wanted_(wanted) {
    told_.cluster = wanted.cluster;
    told_.from = wanted.window.from;
    told_.until = wanted.until;
    told_.as_of = now;
  }

  bool is_full() const { return contracts_ >= wanted_.limit || told_.lines.size() >= k_most_lines; }
  void add(const model::Contract& contract) {
    ++contracts_;
    const bool is_bought = contract.buyer == wanted_.cluster;
    if (is_bought ? !wanted_.bought : !wanted_.sold) return;
    for (market::InvoiceLine& line : lines_of(contract, wanted_.window, told_.as_of)) {
      told_.lines.push_back(std::move(line));
    }
  }
  wire::InvoiceAnswer told(std::string next) {
    told_.totals = market::totals_of(told_.lines, wanted_.cluster);
    told_.next = std::move(next);
    return std::move(told_);
  }

 private:
  const InvoiceWanted& wanted_;
  wire::InvoiceAnswer told_;
  int32_t contracts_ = 0;
};

// Adds what lives; where the next page begins if there is more of it, else nothing.
std::optional<std::string> add_live(InvoicePage& page, const host::Snapshot& snapshot,
                                    const InvoiceWanted& wanted) {
  const auto own = merge_own(snapshot.found[0], snapshot.found[1], wanted.limit);
  for (size_t i = 0; i < own.rows.size(); ++i) {
    if (const auto* contract = held<model::Contract>(own.rows[i])) page.add(*contract);
    const bool last = i + 1 == own.rows.size() && !own.more;
    if (page.is_full() && !last) return std::string(k_live) + own.rows[i].key.id;
  }
  return std::nullopt;
}

// Both sides in order of their end. Nobody buys from itself: no contract is in both.
std::string add_ended(InvoicePage& page, std::vector<host::Row> rows,
                      const std::vector<host::Row>& sold, const InvoiceWanted& wanted) {
  const auto most = static_cast<size_t>(wanted.limit);
  const bool more = rows.size() == most || sold.size() == most;
  rows.insert(rows.end(), sold.begin(), sold.end());
  const auto place = [](const host::Row& row) {
    const auto* contract = held<model::Contract>(row);
    return std::pair{contract == nullptr ? Instant{} : contract->deadline, row.key.id};
  };
  std::sort(rows.begin(), rows.end(),
            [&](const host::Row& a, const host::Row& b) { return place(a) < place(b); });
  for (size_t i = 0; i < rows.size(); ++i) {
    if (const auto* contract = held<model::Contract>(rows[i])) page.add(*contract);
    const bool last = i + 1 == rows.size() && !more;
    if (page.is_full() && !last) {
      const auto [end, id] = place(rows[i]);
      return fmt::format("{}{}/{}", k_ended, end.ms, id);
    }
  }
  return {};
}

}  // namespace

void handle_invoice(Desk& desk, const std::shared_ptr<Call>& call) {
  auto wanted = std::make_shared<InvoiceWanted>();
  if (!read_wanted(desk, *call, *wanted)) return;
  host::Load own;
  if (wanted->live) {
    own.scans = scans_of_own(wanted->cluster.text, PageAsked{wanted->after, wanted->limit});
  }
  for (host::Scan& scan : scans_of_ended(*wanted)) own.scans.push_back(std::move(scan));
  load(desk, call, std::move(own), [&desk, call, wanted](const host::Snapshot& snapshot) {
    InvoicePage page(*wanted, snapshot.now);
    if (wanted->live) {
      if (auto next = add_live(page, snapshot, *wanted)) {
        return answer(desk, *call, 200, page.told(std::move(*next)));
      }
      if (page.is_full()) {
        return answer(desk, *call, 200,
                      page.told(fmt::format("{}{}/", k_ended, wanted->ended_from.ms)));
      }
    }
    const size_t first = wanted->live ? 2 : 0;
    std::string next = add_ended(page, snapshot.found[first], snapshot.found[first + 1], *wanted);
    answer(desk, *call, 200, page.told(std::move(next)));
  });
}

}  // namespace spillway::services
