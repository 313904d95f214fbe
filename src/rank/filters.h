// Filters: which offers cannot serve an intent, and why.
//
// Assumptions
//   - the intent passed model::validate; the buyer may see the row (rank/query.h asks that first).
//   - a claim is taken at its word here; trust is another term's business.
// Algorithm
//   Every reason is one test of one row. Only those that the intent asks for are tested, in the
//   order of the enum; the first that fails is the one that rules the offer out, and the only one
//   counted. Lasting reasons come first, passing ones (paused, stale, sold out) last: so "sold out"
//   is said only of an offer that would do otherwise, and tells "not now" from "never" without
//   another look.
// Ties
//   None: the order is fixed. Among label constraints the first as written counts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/intent.h"
#include "rank/catalogue.h"
#include "rank/sphere.h"

namespace spillway::rank {

enum class Reason : uint8_t {
  ended,     // past the offer's `until`
  currency,  // priced in another
  shape,     // a unit does not cover what is wanted
  label,
  country,
  provider,
  taint,
  price,
  carbon,  // too much, or unknown
  distance,
  lease,     // shorter than wanted
  paused,    // from here on: not now. The pool is not for sale at the moment
  stale,     // its provider has gone silent
  sold_out,  // nothing is free
};
inline constexpr size_t k_reasons = 14;

std::string_view to_text(Reason reason);
inline bool is_passing(Reason reason) { return reason >= Reason::paused; }

class Filters {
 public:
  // Both must outlive it.
  Filters(const Catalogue& catalogue, const model::Intent& intent, Instant now);

  // The first reason that rules the row out; nullopt when it fits.
  std::optional<Reason> first_failure(const Row& row) const;
  // Never for a reason that the intent does not ask for.
  bool fails(Reason reason, const Row& row) const;

  // "612 km away, at most 300 km wanted". Only for a reason that fails.
  std::string sentence(Reason reason, const Row& row) const;
  // By how much it fails, in thousandths of what was wanted; 1000 where no number can say.
  int64_t excess_permille(Reason reason, const Row& row) const;

 private:
  struct LabelTest {
    std::optional<Ref> key;  // nullopt: no offer has it
    model::Operator op = model::Operator::in;
    std::vector<Ref> values;
  };
  struct CountTest {
    std::optional<Ref> name;
    int64_t amount = 0;
  };

  void ask(Reason reason, bool is_asked = true) { asked_[static_cast<size_t>(reason)] = is_asked; }
  void prepare_labels();
  void prepare_names();
  bool fails_asked(Reason reason, const Row& row) const;
  template <size_t... Reasons>
  std::optional<Reason> first_of(const Row& row, std::index_sequence<Reasons...>) const;
  bool covers(const Row& row) const;
  bool satisfies(const LabelTest& test, const Row& row) const;
  bool too_far(const Row& row) const;
  std::string label_sentence(const Row& row) const;
  std::string taint_sentence(const Row& row) const;

  const Catalogue& catalogue_;
  const model::Intent& intent_;
  Instant now_;
  uint32_t currency_ = 0;
  std::array<bool, k_reasons> asked_{};

  std::vector<CountTest> gpus_;
  std::vector<CountTest> extended_;
  std::vector<LabelTest> labels_;
  std::vector<Ref> countries_;
  std::vector<Ref> providers_;
  std::vector<Ref> excluded_;
  std::vector<Ref> tolerated_;
  Direction near_;
  double surely_near_ = 0;  // squares of chords: below it near enough,
  double surely_far_ = 0;   // above it too far, between them the exact distance decides
};

// model::great_circle_metres from the place to the row.
int64_t exact_metres(const model::Place& place, const Row& row);

// "612 km", "9.4 km", "950 m".
std::string distance_to_text(int64_t metres);

}  // namespace spillway::rank
