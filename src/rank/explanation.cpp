// to_text(Ranking): law 7 for people. Columns are aligned; the free text comes last on a line,
// since only ids, names and numbers are sure to be as wide as they are long.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/money.h"
#include "rank/query.h"

namespace spillway::rank {
namespace {

constexpr int64_t k_micros = 1'000'000;

std::string fixed(int64_t micros) {
  return fmt::format("{}.{:06}", micros / k_micros, micros % k_micros);
}

void write_candidates(std::string& text, const Ranking& ranking) {
  size_t id_width = 0;
  size_t cost_width = 0;
  for (const Candidate& candidate : ranking.candidates) {
    id_width = std::max(id_width, candidate.offer.text.size());
    cost_width = std::max(cost_width, fixed(candidate.score).size());
  }
  // Terms stand under the id, their amounts under the cost.
  constexpr size_t k_longest_name = 8;
  id_width = std::max(id_width, k_longest_name + 2);
  auto out = std::back_inserter(text);
  size_t place = 0;
  for (const Candidate& candidate : ranking.candidates) {
    fmt::format_to(out, "{:>4}  {:<{}}  {:>{}}  {} free\n", ++place, candidate.offer.text, id_width,
                   fixed(candidate.score), cost_width, candidate.free_units);
    for (const Term& term : candidate.terms) {
      fmt::format_to(out, "        {:<{}}  {:>{}}  {}\n", term.name, id_width - 2,
                     fixed(term.amount), cost_width, term.how);
    }
  }
}

void write_ruled_out(std::string& text, const Ranking& ranking) {
  text += "\nruled out\n";
  for (const RuledOut& ruled_out : ranking.ruled_out) {
    fmt::format_to(std::back_inserter(text), "  {:<8}  {:>6}\n", to_text(ruled_out.reason),
                   ruled_out.offers);
  }
}

void write_verdicts(std::string& text, const Ranking& ranking) {
  size_t id_width = 0;
  for (const Verdict& verdict : ranking.verdicts) {
    id_width = std::max(id_width, verdict.offer.text.size());
  }
  text += "\nverdicts\n";
  for (const Verdict& verdict : ranking.verdicts) {
    fmt::format_to(std::back_inserter(text), "  {:<{}}  {:<8}  {}\n", verdict.offer.text, id_width,
                   verdict.ruled_out_by ? to_text(*verdict.ruled_out_by) : "fits",
                   verdict.ruled_out_by ? verdict.sentence : fixed(verdict.score));
  }
}

}  // namespace

std::string to_text(const Ranking& ranking) {
  std::string text;
  if (ranking.outcome == Outcome::ok) {
    text = fmt::format("{} of {} visible offers fit; cost in {} per unit-hour\n", ranking.fitting,
                       ranking.considered, ranking.currency.text());
  } else {
    text = fmt::format("{}: {}\n", to_text(ranking.outcome), ranking.why);
  }
  write_candidates(text, ranking);
  if (!ranking.next_cursor.empty()) text += "        … and more\n";
  if (!ranking.ruled_out.empty()) write_ruled_out(text, ranking);
  if (!ranking.verdicts.empty()) write_verdicts(text, ranking);
  return text;
}

}  // namespace spillway::rank
