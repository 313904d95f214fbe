#include "rank/query.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/text.h"
#include "model/visibility.h"

namespace spillway::rank {
namespace {

constexpr size_t k_ahead = 8;  // rows to prefetch: measured, 4 to 16 are alike

struct Scored {
  int64_t score = 0;
  const Row* row = nullptr;
};

bool is_before(const Scored& a, const Scored& b) {
  return a.score != b.score ? a.score < b.score : *a.row->id < *b.row->id;
}

struct Miss {
  const Row* row = nullptr;
  Reason reason = Reason::ended;
};

bool is_lesser(const Miss& a, const Miss& b) { return *a.row->id < *b.row->id; }

// The last candidate of the page before: "<score>:<offer id>".
struct Cursor {
  int64_t score = 0;
  OfferId offer;

  bool is_before(const Scored& scored) const {
    return score != scored.score ? score < scored.score : offer < *scored.row->id;
  }
};

std::string to_text(const Cursor& cursor) {
  return fmt::format("{}:{}", cursor.score, cursor.offer.text);
}

Result<std::optional<Cursor>> parse_cursor(const std::string& text) {
  if (text.empty()) return std::nullopt;
  Cursor cursor;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, cursor.score);
  if (error != std::errc{} || cursor.score < 0 || rest == end || *rest != ':' ||
      !check_owned_id({rest + 1, end})) {
    return fail(Code::invalid, "cursor", in_quotes(text) + " was not made here",
                "pass what `next` of the page before says, or none to begin at the best");
  }
  cursor.offer.text.assign(rest + 1, end);
  return cursor;
}

// Which of the interned visibilities the buyer falls under: asked once each, not once an offer.
std::vector<bool> seen_by(const Visibilities& visibilities, const Buyer& buyer) {
  std::vector<bool> seen(visibilities.bound());
  for (Ref ref = 0; ref < seen.size(); ++ref) {
    seen[ref] = model::may_see(visibilities[ref], buyer.id, buyer.operator_labels);
  }
  return seen;
}

class Query {
 public:
  Query(const Catalogue& catalogue, const model::Intent& intent, const Buyer& buyer, Instant now,
        size_t page_size, std::optional<Cursor> cursor)
      : catalogue_(catalogue),
        intent_(intent),
        now_(now),
        page_size_(page_size),
        cursor_(std::move(cursor)),
        seen_(seen_by(catalogue.visibilities(), buyer)),
        filters_(catalogue, intent, now),
        terms_(cost_terms(intent, now)) {}

  Ranking run(Detail detail) {
    const std::span<const Row> rows = catalogue_.rows();
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i + k_ahead < rows.size()) rows[i + k_ahead].packed.prefetch();
      const Row& row = rows[i];
      if (!seen_[row.visibility]) continue;
      ++considered_;
      if (const std::optional<Reason> reason = filters_.first_failure(row)) {
        ++ruled_out_[static_cast<size_t>(*reason)];
        if (detail == Detail::verdicts) note(row, *reason);
      } else {
        ++fitting_;
        consider(row);
      }
    }
    Ranking ranking;
    ranking.currency = intent_.currency;
    ranking.considered = considered_;
    ranking.fitting = fitting_;
    for (size_t i = 0; i < k_reasons; ++i) {
      if (ruled_out_[i] > 0) ranking.ruled_out.push_back({static_cast<Reason>(i), ruled_out_[i]});
    }
    std::sort_heap(page_.begin(), page_.end(), is_before);
    for (const Scored& scored : page_) ranking.candidates.push_back(candidate(scored));
    if (has_more_) ranking.next_cursor = to_text(Cursor{page_.back().score, *page_.back().row->id});
    tell_outcome(ranking);
    if (detail == Detail::verdicts) ranking.verdicts = verdicts();
    return ranking;
  }

 private:
  int64_t score_of(const Row& row) const {
    int64_t score = 0;
    for (const std::unique_ptr<CostTerm>& term : terms_)
      score = checked_add(score, term->amount(row));
    return score;
  }

  CostTerm::Bounds bounds_of(const Row& row) const {
    CostTerm::Bounds sum;
    for (const std::unique_ptr<CostTerm>& term : terms_) {
      const CostTerm::Bounds bounds = term->bounds(row);
      sum.low = checked_add(sum.low, bounds.low);
      sum.high = checked_add(sum.high, bounds.high);
    }
    return sum;
  }

  // Onto the page, if it belongs there.
  void consider(const Row& row) {
    const CostTerm::Bounds bounds = bounds_of(row);
    if (cursor_ && bounds.high < cursor_->score) return;
    const bool is_full = page_.size() == page_size_;
    if (is_full && bounds.low > page_.front().score) {
      has_more_ = true;
      return;
    }
    const Scored scored{bounds.low == bounds.high ? bounds.low : score_of(row), &row};
    if (cursor_ && !cursor_->is_before(scored)) return;
    if (is_full) {
      has_more_ = true;
      if (!is_before(scored, page_.front())) return;
      std::pop_heap(page_.begin(), page_.end(), is_before);
      page_.pop_back();
    }
    page_.push_back(scored);
    std::push_heap(page_.begin(), page_.end(), is_before);
  }

  Candidate candidate(const Scored& scored) const {
    const Row& row = *scored.row;
    Candidate candidate;
    candidate.offer = *row.id;
    candidate.provider = ClusterId(catalogue_.texts()[row.provider]);
    candidate.pool = PoolId(catalogue_.pool_id(row));
    candidate.free_units = catalogue_.free_units(row);
    candidate.rate = row.rate;
    if (intent_.near) candidate.distance_metres = exact_metres(*intent_.near, row);
    candidate.carbon = row.packed.carbon_at(now_);
    candidate.heard = catalogue_.pool(row).heard;
    candidate.score = scored.score;
    for (const std::unique_ptr<CostTerm>& term : terms_) {
      candidate.terms.push_back(term->explain(row));
    }
    return candidate;
  }

  // Among the first by id, if it belongs there. Sentences are written for those that stay.
  void note(const Row& row, Reason reason) {
    if (misses_.size() == page_size_) {
      if (!is_lesser(Miss{&row, reason}, misses_.front())) return;
      std::pop_heap(misses_.begin(), misses_.end(), is_lesser);
      misses_.pop_back();
    }
    misses_.push_back({&row, reason});
    std::push_heap(misses_.begin(), misses_.end(), is_lesser);
  }

  // After the page is sorted.
  std::vector<Verdict> verdicts() {
    std::vector<Verdict> all;
    for (const Scored& scored : page_) all.push_back({*scored.row->id, {}, scored.score, {}});
    std::sort_heap(misses_.begin(), misses_.end(), is_lesser);
    for (const auto& [row, reason] : misses_) {
      all.push_back({*row->id, reason, 0, filters_.sentence(reason, *row)});
    }
    return all;
  }

  // Of those that fail (for passing reasons only, if so asked): the one that fails the fewest
  // constraints, then the one whose first is missed by least, then the lesser id.
  std::string nearest_miss(bool passing_only) const {
    const Row* nearest = nullptr;
    std::vector<Reason> nearest_failures;
    int64_t nearest_excess = 0;
    std::vector<Reason> failures;
    for (const Row& row : catalogue_.rows()) {
      if (!seen_[row.visibility]) continue;
      failures.clear();
      for (size_t i = 0; i < k_reasons; ++i) {
        const auto reason = static_cast<Reason>(i);
        if (filters_.fails(reason, row)) failures.push_back(reason);
      }
      if (passing_only && !is_passing(failures.front())) continue;
      const int64_t excess = filters_.excess_permille(failures.front(), row);
      if (nearest == nullptr ||
          std::tuple(failures.size(), excess, std::string_view(row.id->text)) <
              std::tuple(nearest_failures.size(), nearest_excess,
                         std::string_view(nearest->id->text))) {
        nearest = &row;
        nearest_failures = failures;
        nearest_excess = excess;
      }
    }
    std::string text = nearest->id->text;
    std::string_view separator = ": ";
    for (const Reason reason : nearest_failures) {
      text.append(separator).append(filters_.sentence(reason, *nearest));
      separator = "; ";
    }
    return text;
  }

  void tell_outcome(Ranking& ranking) const {
    if (fitting_ > 0) {
      ranking.outcome = Outcome::ok;
      return;
    }
    if (considered_ == 0) {
      ranking.outcome = Outcome::never;
      ranking.why = "no offer is visible to this buyer";
      return;
    }
    int64_t would_do = 0;
    for (const RuledOut& ruled_out : ranking.ruled_out) {
      if (is_passing(ruled_out.reason)) would_do += ruled_out.offers;
    }
    ranking.outcome = would_do > 0 ? Outcome::not_now : Outcome::never;
    const RuledOut* most = nullptr;
    for (const RuledOut& ruled_out : ranking.ruled_out) {
      if (would_do > 0 && !is_passing(ruled_out.reason)) continue;
      if (most == nullptr || ruled_out.offers > most->offers) most = &ruled_out;
    }
    const std::string nearest = nearest_miss(would_do > 0);
    ranking.why =
        would_do > 0
            ? fmt::format(
                  "{} of {} visible offers would do but cannot be had now, most are {} ({}); "
                  "nearest: {}",
                  would_do, considered_, to_text(most->reason), most->offers, nearest)
            : fmt::format(
                  "none of {} visible offers fits; {} ruled out most ({}); nearest miss: {}",
                  considered_, to_text(most->reason), most->offers, nearest);
  }

  const Catalogue& catalogue_;
  const model::Intent& intent_;
  Instant now_;
  size_t page_size_;
  std::optional<Cursor> cursor_;
  std::vector<bool> seen_;
  Filters filters_;
  std::vector<std::unique_ptr<CostTerm>> terms_;

  int64_t considered_ = 0;
  int64_t fitting_ = 0;
  std::array<int64_t, k_reasons> ruled_out_{};
  std::vector<Scored> page_;  // a heap, the worst on top
  std::vector<Miss> misses_;  // a heap, the greatest id on top
  bool has_more_ = false;
};

}  // namespace

std::string_view to_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "ok";
    case Outcome::not_now:
      return "not now";
    case Outcome::never:
      return "never";
  }
  return {};
}

Result<Ranking> rank_offers(const Catalogue& catalogue, const model::Intent& intent,
                            const Buyer& buyer, Instant now, const Page& page, Detail detail) {
  SPILLWAY_TRY(model::validate(intent));
  if (page.size < 1) {
    return fail(Code::invalid, "page size", fmt::format("{} offers are none", page.size),
                "ask for at least 1");
  }
  if (page.size > k_max_page) {
    return fail(Code::invalid, "page size",
                fmt::format("{} offers are more than a page may have", page.size),
                fmt::format("ask for at most {}, then for the next page", k_max_page));
  }
  Result<std::optional<Cursor>> cursor = parse_cursor(page.cursor);
  if (!cursor) return tl::unexpected(std::move(cursor).error());
  return Query(catalogue, intent, buyer, now, static_cast<size_t>(page.size), *std::move(cursor))
      .run(detail);
}

Result<model::Offer> find_visible(const Catalogue& catalogue, const OfferId& id,
                                  const Buyer& buyer) {
  const Row* row = catalogue.find_row(id);
  if (row != nullptr &&
      !model::may_see(catalogue.visibilities()[row->visibility], buyer.id, buyer.operator_labels)) {
    return fail(Code::not_found, "offer " + id.text, "there is no such offer");
  }
  Result<model::Offer> offer = catalogue.find(id);
  // Whom else a provider sells to is its own business.
  if (offer && buyer.id.text != owner_of(id.text)) offer->visibility = {};
  return offer;
}

}  // namespace spillway::rank
