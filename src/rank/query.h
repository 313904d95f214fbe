// A query: the offers that serve an intent, best first, and why.
//
// Assumptions
//   - the catalogue holds validated offers; intent and cursor are an outsider's and are checked
//   here.
//   - the buyer's labels are the operator's, never its own.
// Algorithm
//   One pass over all rows: what the buyer may not see is skipped and leaves no trace, not even in
//   counts; then the filters (rank/filters.h); then the cost (rank/cost.h) of what remains. The
//   page is kept in a heap of its size. A candidate whose lower bound is beyond the worst of a full
//   page is never computed exactly. All arithmetic is in integers. What is told of offers that
//   were ruled out has the bound of a page as well.
// Ties
//   Lower cost first, then the lesser offer id. Both together are the cursor, so that pages put
//   together equal one big page as long as nothing changed, and never repeat an offer that did not.
// Outcomes
//   ok, or not now (offers would do, but are paused, stale or sold out; ask again later), or never
//   (no visible offer fits: change the intent).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/money.h"
#include "base/result.h"
#include "base/time.h"
#include "model/intent.h"
#include "model/labels.h"
#include "model/offer.h"
#include "rank/catalogue.h"
#include "rank/cost.h"
#include "rank/filters.h"

namespace spillway::rank {

struct Buyer {
  ClusterId id;
  model::Labels operator_labels;
};

// A page is built in memory and explained term by term: what one question costs has a limit.
inline constexpr int32_t k_max_page = 1000;

struct Page {
  int32_t size = 10;   // 1 to k_max_page
  std::string cursor;  // Ranking::next_cursor of the page before; empty: from the best on
};

enum class Detail { candidates, verdicts };

struct Candidate {
  OfferId offer;
  ClusterId provider;
  PoolId pool;
  int32_t free_units = 0;                  // of this pool, now, if nobody else buys
  int64_t rate = 0;                        // micro-units per unit-hour, as a contract would say
  std::optional<int64_t> distance_metres;  // when the intent says from where
  std::optional<int32_t> carbon;           // g/kWh now, when stated
  std::optional<Instant> heard;            // the provider's last sign of life
  int64_t score = 0;                       // micro-units per unit-hour; the sum of the terms
  std::vector<Term> terms;
  bool operator==(const Candidate&) const = default;
};

struct RuledOut {
  Reason reason = Reason::ended;
  int64_t offers = 0;
  bool operator==(const RuledOut&) const = default;
};

// What became of one visible offer.
struct Verdict {
  OfferId offer;
  std::optional<Reason> ruled_out_by;  // the first, in the order of the enum
  int64_t score = 0;                   // of one that fits
  std::string sentence;                // "612 km away, at most 300 km wanted"; empty when it fits
  bool operator==(const Verdict&) const = default;
};

enum class Outcome { ok, not_now, never };
std::string_view to_text(Outcome outcome);

struct Ranking {
  Outcome outcome = Outcome::never;
  std::string why;  // empty when ok
  Currency currency;
  int64_t considered = 0;  // visible offers, on all pages together; so too the next two
  int64_t fitting = 0;
  std::vector<RuledOut> ruled_out;  // in the order of the enum, no zeros
  std::vector<Candidate> candidates;
  std::string next_cursor;  // empty: this was the last page
  // Detail::verdicts: the candidates, then of those ruled out the first by id, as many as a page
  // may have. The counts above tell how many there are.
  std::vector<Verdict> verdicts;
  bool operator==(const Ranking&) const = default;
};

// Fails only with Code::invalid, for an intent, page size or cursor that makes no sense.
Result<Ranking> rank_offers(const Catalogue& catalogue, const model::Intent& intent,
                            const Buyer& buyer, Instant now, const Page& page = {},
                            Detail detail = Detail::candidates);

// An offer that the buyer may not see is not found, in the same words as one that does not exist.
// Its visibility is told to its provider only, and empty for all others.
Result<model::Offer> find_visible(const Catalogue& catalogue, const OfferId& id,
                                  const Buyer& buyer);

// For a terminal: the outcome, candidates with their terms, what was ruled out and why.
std::string to_text(const Ranking& ranking);

}  // namespace spillway::rank
