#include "rank/query.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "property/rank/random_market.h"
#include "support/generators.h"

namespace spillway::rank {
namespace {

// All pages of the given size, put together.
std::vector<Candidate> all_pages(const Catalogue& catalogue, const model::Intent& intent,
                                 const Buyer& buyer, int32_t size) {
  std::vector<Candidate> all;
  Page page{size, {}};
  do {
    const Ranking ranking = rank_offers(catalogue, intent, buyer, k_now, page).value();
    RC_ASSERT(ranking.candidates.size() <= static_cast<size_t>(size));
    all.insert(all.end(), ranking.candidates.begin(), ranking.candidates.end());
    page.cursor = ranking.next_cursor;
  } while (!page.cursor.empty());
  return all;
}

void expect_the_plain_answer(const PlainMarket& market, const Catalogue& catalogue) {
  const model::Intent intent = any_intent();
  const Buyer buyer = any_buyer();
  const PlainRanking expected = plain_rank(market, intent, buyer);
  const int32_t size = any(1, 12);
  const Ranking ranking =
      rank_offers(catalogue, intent, buyer, k_now, {size, {}}, Detail::verdicts).value();

  RC_ASSERT(ranking.considered == expected.considered);
  RC_ASSERT(ranking.fitting == static_cast<int64_t>(expected.fitting.size()));
  std::map<Reason, int64_t> ruled_out;
  for (const RuledOut& entry : ranking.ruled_out) ruled_out[entry.reason] = entry.offers;
  RC_ASSERT(ruled_out == expected.ruled_out);

  for (size_t i = 0; i < ranking.candidates.size(); ++i) {
    const Candidate& candidate = ranking.candidates[i];
    RC_ASSERT(candidate.score == expected.fitting[i].first);
    RC_ASSERT(candidate.offer == expected.fitting[i].second);
    int64_t sum = 0;
    for (const Term& term : candidate.terms) sum += term.amount;
    RC_ASSERT(sum == candidate.score);
    const model::Offer& offer = market.offers.at(candidate.offer);
    RC_ASSERT(candidate.free_units == market.pools.at(offer.pool).free.how_many(offer.shape));
  }

  bool some_would_do = false;
  for (const auto& [reason, count] : expected.ruled_out) some_would_do |= is_passing(reason);
  const Outcome outcome = !expected.fitting.empty() ? Outcome::ok
                          : some_would_do           ? Outcome::not_now
                                                    : Outcome::never;
  RC_ASSERT(ranking.outcome == outcome);
  RC_ASSERT(ranking.why.empty() == (outcome == Outcome::ok));

  const auto misses = expected.considered - static_cast<int64_t>(expected.fitting.size());
  RC_ASSERT(ranking.verdicts.size() ==
            ranking.candidates.size() + static_cast<size_t>(std::min<int64_t>(misses, size)));
  for (const Verdict& verdict : ranking.verdicts) {
    const model::Offer& offer = market.offers.at(verdict.offer);
    const auto pool = market.pools.find(offer.pool);
    RC_ASSERT(verdict.ruled_out_by ==
              plain_reason(offer, pool == market.pools.end() ? PoolState{} : pool->second, intent));
    RC_ASSERT(verdict.sentence.empty() == !verdict.ruled_out_by.has_value());
  }
  RC_ASSERT(!to_text(ranking).empty());
}

RC_GTEST_PROP(RankOffers, AnswersAsThePlainWayDoes, ()) {
  const PlainMarket market = any_market();
  Catalogue catalogue;
  market.fill(catalogue);
  for (int i = 0; i < 5; ++i) expect_the_plain_answer(market, catalogue);
}

RC_GTEST_PROP(RankOffers, PagesPutTogetherAreOneBigPage, ()) {
  const PlainMarket market = any_market();
  const model::Intent intent = any_intent();
  const Buyer buyer = any_buyer();
  Catalogue catalogue;
  market.fill(catalogue);
  const Ranking whole = rank_offers(catalogue, intent, buyer, k_now, {1000, {}}).value();
  RC_ASSERT(all_pages(catalogue, intent, buyer, any(1, 5)) == whole.candidates);
}

// Limits included: no sum leaves its range, no sentence is missing.
RC_GTEST_PROP(RankOffers, AnswersEveryValidIntent, ()) {
  PlainMarket market;
  for (int i = 0; i < 4; ++i) {
    const model::Offer offer = *test::any_offer();
    market.offers[offer.id] = offer;
    market.pools[offer.pool] = {offer.shape, true, k_now + minutes(1)};
  }
  Catalogue catalogue;
  market.fill(catalogue);
  const model::Intent intent = *test::any_intent();
  const Buyer buyer = any_buyer();
  const Ranking ranking =
      rank_offers(catalogue, intent, buyer, k_now, {}, Detail::verdicts).value();
  const PlainRanking expected = plain_rank(market, intent, buyer);
  RC_ASSERT(ranking.considered == expected.considered);
  RC_ASSERT(ranking.fitting == static_cast<int64_t>(expected.fitting.size()));
  for (size_t i = 0; i < ranking.candidates.size(); ++i) {
    RC_ASSERT(ranking.candidates[i].score == expected.fitting[i].first);
  }
  for (const Verdict& verdict : ranking.verdicts) {
    RC_ASSERT(verdict.sentence.empty() == !verdict.ruled_out_by.has_value());
  }
}

RC_GTEST_PROP(RankOffers, HiddenOffersLeaveNoTrace, ()) {
  const PlainMarket market = any_market();
  const model::Intent intent = any_intent();
  const Buyer buyer = any_buyer();
  PlainMarket visible = market;
  std::erase_if(visible.offers, [&buyer](const auto& entry) {
    return !may_see(entry.second.visibility, buyer.id, buyer.operator_labels);
  });
  Catalogue all;
  Catalogue only_visible;
  market.fill(all);
  visible.fill(only_visible);
  const Page page{any(1, 5), {}};
  RC_ASSERT(rank_offers(all, intent, buyer, k_now, page, Detail::verdicts).value() ==
            rank_offers(only_visible, intent, buyer, k_now, page, Detail::verdicts).value());
}

}  // namespace
}  // namespace spillway::rank
