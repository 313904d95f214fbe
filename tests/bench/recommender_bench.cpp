// What a score costs: every offer for every intent, prepared offers, no explanation.
#include <random>
#include <vector>

#include "base/check.h"
#include "bench/bench.h"
#include "rank/figures.h"
#include "rank/profiles.h"

namespace spillway::bench {
namespace {

constexpr size_t k_figures = 1000;
constexpr size_t k_intents = 2000;

struct ScoredIntent {
  rank::Expectation expect;
  std::vector<rank::Tier> tiers;
};

// As the terms of real offers spread: cents to some units an hour, hydro to coal, next door to the
// other side of the Earth, and a third of everything unknown.
std::vector<rank::Figures> make_figures() {
  std::mt19937_64 engine(11);
  const auto roll = [&engine](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  };
  std::vector<rank::Figures> all(k_figures);
  for (rank::Figures& figures : all) {
    figures.rate = roll(8'000, 9'000'000);
    figures.minimum_term_ms = roll(0, 3) * 600'000;
    figures.egress_gib_price = roll(0, 90'000);
    figures.milliwatt_grams = roll(1'500, 160'000) * roll(20, 1500);
    const bool is_measured = roll(0, 2) > 0;
    figures.round_trip_us = is_measured ? roll(500, 300'000) : rank::k_worst_round_trip_us;
    figures.failures_micros = roll(0, 2) > 0 ? roll(0, 3'000'000) : rank::k_untried_failures;
    figures.silence_ms = roll(0, 90'000);
    figures.estimated = is_measured ? 0 : 1;
  }
  return all;
}

// All profiles in turn: one tier or two.
std::vector<ScoredIntent> make_intents() {
  std::mt19937_64 engine(12);
  std::vector<ScoredIntent> all(k_intents);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto minutes_wanted = std::uniform_int_distribution<int64_t>(5, 2880)(engine);
    const auto gib = std::uniform_int_distribution<int64_t>(0, 64)(engine);
    all[i].expect = {minutes(minutes_wanted), gib << 30};
    all[i].tiers = rank::tiers_of(rank::k_profiles[i % rank::k_profiles.size()]);
  }
  return all;
}

size_t best_for(const ScoredIntent& intent, const std::vector<rank::Figures>& figures) {
  size_t best = 0;
  rank::Score least = rank::score_of(figures[0], intent.expect, intent.tiers);
  for (size_t i = 1; i < figures.size(); ++i) {
    const rank::Score score = rank::score_of(figures[i], intent.expect, intent.tiers);
    if (score >= least) continue;
    least = score;
    best = i;
  }
  return best;
}

}  // namespace

// Each intent's best of all offers: scores and the comparison that uses them.
SPILLWAY_BENCH(ca, scores) {
  const std::vector<rank::Figures> figures = make_figures();
  const std::vector<ScoredIntent> intents = make_intents();
  std::vector<double> per_second;
  for (int repetition = 0; repetition < k_repetitions; ++repetition) {
    const double before = cpu_seconds();
    for (const ScoredIntent& intent : intents) {
      const size_t best = best_for(intent, figures);
      keep(best);
    }
    const double spent = cpu_seconds() - before;
    per_second.push_back(static_cast<double>(k_figures * k_intents) / spent);
  }
  report.at_least("rank.scores_per_cpu_s", per_second, "scores/s", 10'000'000);
}

}  // namespace spillway::bench
