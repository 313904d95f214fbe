#include "rank/query.h"

#include <gtest/gtest.h>

#include "unit/rank/market.h"

namespace spillway::rank {
namespace {

std::vector<std::string> ids(const Ranking& ranking) {
  std::vector<std::string> ids;
  ids.reserve(ranking.candidates.size());
  for (const Candidate& candidate : ranking.candidates) ids.push_back(candidate.offer.text);
  return ids;
}

model::Offer priced(const std::string& id, int64_t unit_hour) {
  model::Offer offer = make_offer(id);
  offer.price.unit_hour = unit_hour;
  return offer;
}

using Ids = std::vector<std::string>;

TEST(RankOffers, TheCheapestComesFirst) {
  Market market;
  market.add(priced("edge-1/a", 3));
  market.add(priced("edge-2/a", 1));
  market.add(priced("edge-3/a", 2));
  EXPECT_EQ(ids(market.rank(make_intent())), (Ids{"edge-2/a", "edge-3/a", "edge-1/a"}));
}

TEST(RankOffers, EqualCostsAreInOrderOfTheIdsText) {
  Market market;
  for (const char* id : {"b/z", "b/a", "a/z", "a-1/a"}) market.add(make_offer(id));
  // '-' sorts before '/': ids are compared as they are written.
  EXPECT_EQ(ids(market.rank(make_intent())), (Ids{"a-1/a", "a/z", "b/a", "b/z"}));
  EXPECT_EQ(ids(market.rank(make_intent(), {2, {}})), (Ids{"a-1/a", "a/z"}));
}

TEST(RankOffers, WorthDecidesBetweenCheapAndClean) {
  Market market;
  model::Offer dirty = priced("edge-1/dirty", 100'000);
  dirty.energy = make_energy(800, 100'000);
  model::Offer clean = priced("edge-2/clean", 105'000);
  clean.energy = make_energy(20, 100'000);
  market.add(dirty);
  market.add(clean);
  model::Intent intent = make_intent();
  EXPECT_EQ(ids(market.rank(intent)).front(), "edge-1/dirty");
  intent.worth.carbon_kg = 100'000;  // 0.08 kg against 0.002 kg an hour: 8,000 against 200
  EXPECT_EQ(ids(market.rank(intent)).front(), "edge-2/clean");
}

TEST(RankOffers, SaysHowManyUnitsAreFree) {
  Market market;
  market.add(make_offer("edge-1/small"), 7);
  const Candidate candidate = market.rank(make_intent()).candidates.at(0);
  EXPECT_EQ(candidate.free_units, 7);
  EXPECT_EQ(candidate.provider, ClusterId("edge-1"));
  EXPECT_EQ(candidate.pool, PoolId("edge-1/pool"));
}

TEST(RankOffers, CountsWhatWasRuledOutByItsFirstReason) {
  Market market;
  market.add(priced("edge-1/a", 1));
  market.add(priced("edge-2/a", 900'000));
  market.add(priced("edge-3/a", 900'000));
  market.add(priced("edge-4/a", 2), 0);
  model::Intent intent = make_intent();
  intent.constraints.max_unit_hour = 500'000;
  const Ranking ranking = market.rank(intent);
  EXPECT_EQ(ranking.outcome, Outcome::ok);
  EXPECT_EQ(ranking.why, "");
  EXPECT_EQ(ranking.considered, 4);
  EXPECT_EQ(ranking.fitting, 1);
  EXPECT_EQ(ranking.ruled_out, (std::vector<RuledOut>{{Reason::price, 2}, {Reason::sold_out, 1}}));
}

TEST(RankOffers, PagesPutTogetherAreOneBigPage) {
  Market market;
  for (int i = 0; i < 25; ++i) market.add(priced("edge-" + std::to_string(i) + "/a", i % 4));
  const Ranking whole = market.rank(make_intent(), {1000, {}});
  EXPECT_EQ(whole.next_cursor, "");
  Ids collected;
  Page page{4, {}};
  int pages = 0;
  do {
    const Ranking part = market.rank(make_intent(), page);
    EXPECT_EQ(part.fitting, 25);
    for (const std::string& id : ids(part)) collected.push_back(id);
    page.cursor = part.next_cursor;
    ++pages;
  } while (!page.cursor.empty());
  EXPECT_EQ(pages, 7);
  EXPECT_EQ(collected, ids(whole));
}

TEST(RankOffers, AFullLastPageHasNoNext) {
  Market market;
  market.add(priced("edge-1/a", 1));
  market.add(priced("edge-2/a", 2));
  EXPECT_EQ(market.rank(make_intent(), {2, {}}).next_cursor, "");
  EXPECT_EQ(market.rank(make_intent(), {1, {}}).next_cursor, "1:edge-1/a");
  const Ranking beyond = market.rank(make_intent(), {1, "2:edge-2/a"});
  EXPECT_EQ(beyond.candidates.size(), 0);
  EXPECT_EQ(beyond.outcome, Outcome::ok);
}

TEST(RankOffers, APageGoesOnWhereItsLastOfferWasEvenIfThatIsGone) {
  Market market;
  for (int i = 1; i <= 4; ++i) market.add(priced("edge-" + std::to_string(i) + "/a", i));
  const std::string cursor = market.rank(make_intent(), {2, {}}).next_cursor;
  market.catalogue.erase_offer(OfferId("edge-2/a"));
  EXPECT_EQ(ids(market.rank(make_intent(), {2, cursor})), (Ids{"edge-3/a", "edge-4/a"}));
}

TEST(RankOffers, NonsenseIsRefused) {
  Market market;
  const auto code = [&market](const model::Intent& intent, const Page& page) {
    const Result<Ranking> ranking =
        rank_offers(market.catalogue, intent, market.buyer, k_now, page);
    return ranking ? std::optional<Code>() : ranking.error().code;
  };
  for (const char* cursor : {"x", "1", "1:", ":edge-1/a", "-1:edge-1/a", "1:edge-1", "1:EDGE/a",
                             "99999999999999999999:edge-1/a", "1 :edge-1/a", "1:edge-1/a\n"}) {
    EXPECT_EQ(code(make_intent(), {1, cursor}), Code::invalid) << cursor;
  }
  EXPECT_EQ(code(make_intent(), {0, {}}), Code::invalid);
  EXPECT_EQ(code(make_intent(), {-1, {}}), Code::invalid);
  EXPECT_EQ(code(make_intent(), {1000, {}}), std::nullopt);
  EXPECT_EQ(code(make_intent(), {1001, {}}), Code::invalid);
  EXPECT_EQ(code(make_intent(), {INT32_MAX, {}}), Code::invalid);
  EXPECT_EQ(code(model::Intent{}, {1, {}}), Code::invalid);
  EXPECT_EQ(code(make_intent(), {1, "5:edge-1/a"}), std::nullopt);
}

// --- privacy ---

// Hidden offers of every sort: fitting and cheaper, failing, sold out, ended, with odd labels.
void add_hidden(Market& market) {
  model::Visibility hidden;
  hidden.clusters = {ClusterId("somebody-else")};
  hidden.selector = {{"vetted", "yes"}};
  model::Offer offer = priced("aaa/cheap", 0);
  offer.labels = {{"tier", "gold"}};
  offer.visibility = hidden;
  market.add(offer);
  offer.id = OfferId("aab/dear");
  offer.pool = PoolId("aab/pool");
  offer.price.unit_hour = 10'000'000;
  market.add(offer);
  offer.id = OfferId("aac/sold-out");
  offer.pool = PoolId("aac/pool");
  market.add(offer, 0);
  offer.until = k_now;
  offer.id = OfferId("aad/ended");
  offer.pool = PoolId("aad/pool");
  market.add(offer);
}

TEST(Privacy, HiddenOffersChangeNothingThatABuyerSees) {
  for (const bool with_hidden_first : {true, false}) {
    for (const int64_t limit : {0, 1, 450'000, 2'000'000}) {
      Market plain;
      Market mixed;
      if (with_hidden_first) add_hidden(mixed);
      for (Market* market : {&plain, &mixed}) {
        market->add(priced("edge-1/a", 400'000));
        market->add(priced("edge-2/a", 500'000));
        market->add(priced("edge-3/a", 400'000), 0);
      }
      if (!with_hidden_first) add_hidden(mixed);
      model::Intent intent = make_intent();
      intent.constraints.labels = {{"tier", model::Operator::not_in, {"gold"}}};
      intent.constraints.max_unit_hour = limit;
      for (const Page& page : {Page{1, {}}, Page{10, {}}, Page{10, "0:aaa/cheap"}}) {
        EXPECT_EQ(mixed.rank(intent, page, Detail::verdicts),
                  plain.rank(intent, page, Detail::verdicts));
      }
    }
  }
}

TEST(Privacy, AMarketOfHiddenOffersLooksEmpty) {
  Market empty;
  Market hidden;
  add_hidden(hidden);
  EXPECT_EQ(hidden.rank(make_intent(), {}, Detail::verdicts),
            empty.rank(make_intent(), {}, Detail::verdicts));
}

TEST(Privacy, SellersChooseByNameOrByTheOperatorsLabels) {
  Market market;
  add_hidden(market);
  market.buyer = {ClusterId("somebody-else"), {}};
  EXPECT_EQ(market.rank(make_intent()).considered, 4);
  market.buyer = {ClusterId("buyer"), {{"vetted", "yes"}}};
  EXPECT_EQ(market.rank(make_intent()).considered, 4);
  market.buyer = {ClusterId("buyer"), {{"vetted", "no"}}};
  EXPECT_EQ(market.rank(make_intent()).considered, 0);
}

TEST(Privacy, AHiddenOfferIsNotFoundInTheSameWordsAsOneThatDoesNotExist) {
  Market market;
  add_hidden(market);
  const OfferId id("aaa/cheap");
  EXPECT_TRUE(find_visible(market.catalogue, id, {ClusterId("somebody-else"), {}}));
  const Result<model::Offer> hidden = find_visible(market.catalogue, id, market.buyer);
  market.catalogue.erase_offer(id);
  const Result<model::Offer> absent = find_visible(market.catalogue, id, market.buyer);
  ASSERT_FALSE(hidden);
  ASSERT_FALSE(absent);
  EXPECT_EQ(hidden.error(), absent.error());
}

TEST(Privacy, OnlyTheProviderLearnsWhoElseIsListed) {
  Market market;
  model::Offer offer = make_offer("edge-1/small");
  offer.visibility.everyone = false;
  offer.visibility.clusters = {ClusterId("edge-1"), ClusterId("edge-10"), ClusterId("friend")};
  offer.visibility.selector = {{"vetted", "yes"}};
  market.add(offer);
  EXPECT_EQ(find_visible(market.catalogue, offer.id, {ClusterId("edge-1"), {}}).value(), offer);
  model::Offer told = offer;
  told.visibility = {};
  for (const char* buyer : {"friend", "edge-10"}) {
    EXPECT_EQ(find_visible(market.catalogue, offer.id, {ClusterId(buyer), {}}).value(), told);
  }
  const Buyer vetted{ClusterId("buyer"), {{"vetted", "yes"}}};
  EXPECT_EQ(find_visible(market.catalogue, offer.id, vetted).value(), told);
}

// --- outcomes ---

TEST(Outcome, NeverNamesWhatRuledOutMostAndTheNearestMiss) {
  Market market;
  for (const int degrees : {1, 2, 3}) {
    model::Offer offer = make_offer("far-" + std::to_string(degrees) + "/a");
    offer.place.longitude_microdegrees = degrees * k_degree;
    market.add(offer);
  }
  market.add(priced("near-1/a", 2'000'000));
  model::Intent intent = make_intent();
  intent.near = model::Place{};
  intent.constraints.max_distance_metres = 100'000;
  intent.constraints.max_unit_hour = 1'000'000;
  const Ranking ranking = market.rank(intent);
  EXPECT_EQ(ranking.outcome, Outcome::never);
  EXPECT_EQ(ranking.why,
            "none of 4 visible offers fits; distance ruled out most (3); nearest miss: far-1/a: "
            "111 km away, at most 100 km wanted");
}

TEST(Outcome, TheNearestMissFailsTheFewestConstraintsAndTellsThemAll) {
  Market market;
  model::Offer offer = priced("edge-1/a", 1'000'001);
  offer.taints = {{"spot", "", model::TaintEffect::no_schedule}};
  market.add(offer);
  model::Intent intent = make_intent();
  intent.constraints.max_unit_hour = 1'000'000;
  EXPECT_EQ(market.rank(intent).why,
            "none of 1 visible offers fits; taint ruled out most (1); nearest miss: edge-1/a: "
            "tainted with spot, not tolerated; 1.000001 EUR per unit-hour, at most 1 EUR wanted");
  market.add(priced("edge-2/a", 9'000'000));  // dearer, but fails only once
  EXPECT_TRUE(
      market.rank(intent).why.ends_with("edge-2/a: 9 EUR per unit-hour, at most 1 EUR wanted"));
}

TEST(Outcome, NotNowWhenWhatFitsCannotBeHad) {
  Market market;
  market.add(make_offer("edge-1/a"), 0);
  market.add(make_offer("edge-2/a"), 0);
  market.add(make_offer("edge-3/a"));
  market.catalogue.erase_pool(PoolId("edge-3/pool"));
  for (int i = 4; i < 10; ++i) market.add(priced("edge-" + std::to_string(i) + "/a", 2'000'000));
  model::Intent intent = make_intent();
  intent.constraints.max_unit_hour = 1'000'000;
  const Ranking ranking = market.rank(intent);
  EXPECT_EQ(ranking.outcome, Outcome::not_now);
  EXPECT_EQ(ranking.why,
            "3 of 9 visible offers would do but cannot be had now, most are sold out (2); "
            "nearest: edge-1/a: no unit is free in pool edge-1/pool");
}

TEST(Outcome, AnEndedOfferIsNotWaitedFor) {
  Market market;
  model::Offer offer = make_offer("edge-1/a");
  offer.until = k_now;
  market.add(offer, 0);
  EXPECT_EQ(market.rank(make_intent()).outcome, Outcome::never);
}

TEST(Outcome, AnEmptyMarketIsNever) {
  const Ranking ranking = Market().rank(make_intent());
  EXPECT_EQ(ranking.outcome, Outcome::never);
  EXPECT_EQ(ranking.why, "no offer is visible to this buyer");
}

// --- explanations ---

Market explained_market() {
  Market market;
  model::Offer near = make_offer("edge-1/small");
  near.energy = make_energy(231, 12'400);
  market.add(near, 3);
  model::Offer far = priced("edge-10/small", 350'000);
  far.place.longitude_microdegrees = k_degree;
  market.add(far, 12);
  model::Offer too_far = make_offer("edge-3/small");
  too_far.place.longitude_microdegrees = 10 * k_degree;
  market.add(too_far);
  return market;
}

model::Intent explained_intent() {
  model::Intent intent = make_intent();
  intent.near = model::Place{};
  intent.constraints.max_distance_metres = 300'000;
  intent.worth.carbon_kg = 100'000;
  intent.worth.distance_1000km = 1'000'000;
  return intent;
}

TEST(Explanation, EveryVisibleOfferThatFitsOnThePageHasItsVerdict) {
  const Ranking ranking = explained_market().rank(explained_intent(), {2, {}}, Detail::verdicts);
  EXPECT_EQ(
      ranking.verdicts,
      (std::vector<Verdict>{
          {OfferId("edge-1/small"), std::nullopt, 400'287, ""},
          {OfferId("edge-10/small"), std::nullopt, 350'000 + 574 + 111'195, ""},
          {OfferId("edge-3/small"), Reason::distance, 0, "1112 km away, at most 300 km wanted"}}));
}

// Else one question about a large market costs as much as the market is large.
TEST(Explanation, HasAsManyOfThoseRuledOutAsThePageHasRoomFor) {
  Market market = explained_market();
  for (const char* id : {"edge-5/small", "edge-2/small", "edge-4/small"}) {
    model::Offer too_far = make_offer(id);
    too_far.place.longitude_microdegrees = 10 * k_degree;
    market.add(too_far);
  }
  const auto told = [&](const Page& page) {
    std::vector<std::string> ids;
    for (const Verdict& verdict :
         market.rank(explained_intent(), page, Detail::verdicts).verdicts) {
      ids.push_back(verdict.offer.text);
    }
    return ids;
  };
  EXPECT_EQ(told({1, {}}), (std::vector<std::string>{"edge-1/small", "edge-2/small"}));
  EXPECT_EQ(told({2, {}}), (std::vector<std::string>{"edge-1/small", "edge-10/small",
                                                     "edge-2/small", "edge-3/small"}));
  EXPECT_EQ(told({10, {}}).size(), 6u);
}

TEST(Explanation, IsReadableInATerminal) {
  const Ranking ranking = explained_market().rank(explained_intent(), {}, Detail::verdicts);
  EXPECT_EQ(to_text(ranking),
            "2 of 3 visible offers fit; cost in EUR per unit-hour\n"
            "   1  edge-1/small   0.400287  3 free\n"
            "        money        0.400000  0.4 EUR/h\n"
            "        carbon       0.000287  12.4 W × 231 g/kWh × 0.1 EUR/kg\n"
            "        distance     0.000000  0 km × 1 EUR/1000 km\n"
            "   2  edge-10/small  0.461769  12 free\n"
            "        money        0.350000  0.35 EUR/h\n"
            "        carbon       0.000574  7 W (estimated) × 820 g/kWh (assumed) × 0.1 EUR/kg\n"
            "        distance     0.111195  111.195 km × 1 EUR/1000 km\n"
            "\n"
            "ruled out\n"
            "  distance       1\n"
            "\n"
            "verdicts\n"
            "  edge-1/small   fits      0.400287\n"
            "  edge-10/small  fits      0.461769\n"
            "  edge-3/small   distance  1112 km away, at most 300 km wanted\n");
}

TEST(Explanation, SaysThatThereIsMoreAndWhyThereIsNothing) {
  const Ranking more = explained_market().rank(explained_intent(), {1, {}});
  EXPECT_NE(to_text(more).find("… and more"), std::string::npos);
  EXPECT_EQ(to_text(Market().rank(make_intent())), "never: no offer is visible to this buyer\n");
}

}  // namespace
}  // namespace spillway::rank
