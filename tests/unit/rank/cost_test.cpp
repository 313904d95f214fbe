#include "rank/cost.h"

#include <gtest/gtest.h>

#include "unit/rank/market.h"

namespace spillway::rank {
namespace {

// The terms of the only offer, for the intent.
std::vector<Term> terms_of(const model::Offer& offer, const model::Intent& intent) {
  Market market;
  market.add(offer);
  const Ranking ranking = market.rank(intent);
  SPILLWAY_CHECK(ranking.candidates.size() == 1, "the offer does not fit");
  return ranking.candidates[0].terms;
}

TEST(MoneyTerm, IsTheHourlyRateByDefault) {
  const std::vector<Term> terms = terms_of(make_offer("edge-1/small"), make_intent());
  EXPECT_EQ(terms, (std::vector<Term>{{"money", 400'000, "0.4 EUR/h", false}}));
}

TEST(MoneyTerm, IsWeightedAndRoundedUp) {
  model::Offer offer = make_offer("edge-1/small");
  model::Intent intent = make_intent();
  intent.worth.money_permille = 1500;
  EXPECT_EQ(terms_of(offer, intent)[0], (Term{"money", 600'000, "0.4 EUR/h × 1.5", false}));
  offer.price.unit_hour = 1;
  EXPECT_EQ(terms_of(offer, intent)[0].amount, 2);  // 1.5
  intent.worth.money_permille = 0;
  EXPECT_EQ(terms_of(offer, intent)[0].amount, 0);
}

TEST(CarbonTerm, IsPowerTimesIntensityTimesWorth) {
  model::Offer offer = make_offer("edge-1/small");
  offer.energy = make_energy(231, 12'400);
  model::Intent intent = make_intent();
  intent.worth.carbon_kg = 100'000;
  // 0.0124 kW × 231 g/kWh = 2.8644 g an hour; × 0.1 EUR/kg = 0.00028644 EUR, rounded up.
  EXPECT_EQ(terms_of(offer, intent)[1],
            (Term{"carbon", 287, "12.4 W × 231 g/kWh × 0.1 EUR/kg", false}));
}

TEST(CarbonTerm, FollowsTheForecast) {
  model::Offer offer = make_offer("edge-1/small");
  offer.energy = make_energy(231, 10'000);
  offer.energy->carbon_forecast.assign(24, 500);
  offer.energy->carbon_forecast[2] = 100;
  offer.energy->provenance.as_of = k_now - hours(2);
  model::Intent intent = make_intent();
  intent.worth.carbon_kg = 1'000'000;
  EXPECT_EQ(terms_of(offer, intent)[1].amount, 1000);  // 0.01 kW × 100 g/kWh × 1 EUR/kg
}

TEST(CarbonTerm, EstimatesPowerThatIsNotStated) {
  model::Offer offer = make_offer("edge-1/small");
  offer.energy = make_energy(231);
  model::Intent intent = make_intent();
  intent.worth.carbon_kg = 100'000;
  // 2 cores × 3.5 W = 7 W; × 231 g/kWh = 1.617 g; × 0.1 EUR/kg = 0.0001617 EUR.
  EXPECT_EQ(terms_of(offer, intent)[1],
            (Term{"carbon", 162, "7 W (estimated) × 231 g/kWh × 0.1 EUR/kg", true}));
  offer.shape.gpus = {{"nvidia-a100", 2}};
  // and 2 × 300 W: 607 W × 231 g/kWh = 140.217 g.
  EXPECT_EQ(terms_of(offer, intent)[1].amount, 14'022);
}

TEST(CarbonTerm, SilenceCountsAsCoal) {
  model::Intent intent = make_intent();
  intent.worth.carbon_kg = 100'000;
  EXPECT_EQ(terms_of(make_offer("edge-1/small"), intent)[1],
            (Term{"carbon", 574, "7 W (estimated) × 820 g/kWh (assumed) × 0.1 EUR/kg", true}));
}

TEST(CarbonTerm, TheLargestNumbersFit) {
  model::Offer offer = make_offer("edge-1/small");
  offer.energy = make_energy(10'000, 1'000'000'000);
  model::Intent intent = make_intent();
  intent.worth.carbon_kg = model::k_max_price;
  // A megawatt at 10 kg/kWh is 10,000 kg an hour.
  EXPECT_EQ(terms_of(offer, intent)[1].amount, 10'000 * model::k_max_price);
}

TEST(DistanceTerm, IsMetresTimesWorth) {
  model::Offer offer = make_offer("edge-1/small");
  offer.place.longitude_microdegrees = k_degree;
  model::Intent intent = make_intent();
  intent.near = model::Place{};
  intent.worth.distance_1000km = 10'000;
  // 111,195 m × 0.01 EUR per 1,000 km = 0.00111195 EUR.
  EXPECT_EQ(terms_of(offer, intent)[1],
            (Term{"distance", 1112, "111.195 km × 0.01 EUR/1000 km", false}));
}

TEST(CostTerms, ThoseWithoutWorthAreLeftOut) {
  model::Intent intent = make_intent();
  intent.near = model::Place{};
  EXPECT_EQ(terms_of(make_offer("edge-1/small"), intent).size(), 1);
}

TEST(CostTerms, SumToTheScore) {
  Market market;
  model::Offer offer = make_offer("edge-1/small");
  offer.energy = make_energy(231, 12'400);
  offer.place.longitude_microdegrees = k_degree;
  market.add(offer);
  model::Intent intent = make_intent();
  intent.near = model::Place{};
  intent.worth = {1000, 100'000, 10'000};
  const Candidate candidate = market.rank(intent).candidates.at(0);
  EXPECT_EQ(candidate.score, 400'000 + 287 + 1112);
  EXPECT_EQ(candidate.rate, 400'000);
  EXPECT_EQ(candidate.distance_metres, k_degree_metres);
  EXPECT_EQ(candidate.carbon, 231);
}

}  // namespace
}  // namespace spillway::rank
