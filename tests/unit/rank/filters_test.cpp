#include "rank/filters.h"

#include <gtest/gtest.h>

#include "unit/rank/market.h"

namespace spillway::rank {
namespace {

// What became of the only offer: "<reason>: <sentence>", or "fits".
std::string verdict(const Market& market, const model::Intent& intent) {
  const Ranking ranking = market.rank(intent, {}, Detail::verdicts);
  SPILLWAY_CHECK(ranking.verdicts.size() == 1, "one offer is expected");
  const Verdict& verdict = ranking.verdicts[0];
  if (!verdict.ruled_out_by) return "fits";
  return std::string(to_text(*verdict.ruled_out_by)) + ": " + verdict.sentence;
}

std::string verdict(const model::Offer& offer, const model::Intent& intent) {
  Market market;
  market.add(offer);
  return verdict(market, intent);
}

TEST(Filters, APlainOfferFits) {
  EXPECT_EQ(verdict(make_offer("edge-1/small"), make_intent()), "fits");
}

TEST(Filters, AnOfferEndsAtItsUntil) {
  model::Offer offer = make_offer("edge-1/small");
  offer.until = k_now;
  EXPECT_EQ(verdict(offer, make_intent()), "ended: sold only until 2027-01-15T08:00:00Z");
  offer.until = k_now + milliseconds(1);
  EXPECT_EQ(verdict(offer, make_intent()), "fits");
}

TEST(Filters, TheCurrencyMustBeTheSame) {
  model::Intent intent = make_intent();
  intent.currency = parse_currency("USD").value();
  EXPECT_EQ(verdict(make_offer("edge-1/small"), intent), "currency: priced in EUR, USD wanted");
}

TEST(Filters, AUnitMustCoverTheShape) {
  model::Intent intent = make_intent();
  intent.shape.memory_bytes = 8 * k_gib;
  EXPECT_EQ(verdict(make_offer("edge-1/small"), intent),
            "shape: short of memory: a unit has 2 cpu, 4Gi memory; 1 cpu, 8Gi memory wanted");
}

TEST(Filters, GpusAndExtendedResourcesAreCountedByName) {
  model::Offer offer = make_offer("edge-1/small");
  offer.shape.gpus = {{"nvidia-a100", 1}, {"nvidia-t4", 2}};
  offer.shape.extended = {{"example.com/fpga", 1}};
  model::Intent intent = make_intent();
  intent.shape.gpus = {{"nvidia-t4", 2}};
  intent.shape.extended = {{"example.com/fpga", 1}};
  EXPECT_EQ(verdict(offer, intent), "fits");
  intent.shape.gpus = {{"nvidia-a100", 2}};
  EXPECT_TRUE(verdict(offer, intent).starts_with("shape: short of nvidia-a100"));
  intent.shape.gpus = {{"amd-mi300", 1}};
  EXPECT_TRUE(verdict(offer, intent).starts_with("shape: short of amd-mi300"));
  intent.shape.gpus = {};
  intent.shape.extended = {{"example.com/fpga", 2}};
  EXPECT_TRUE(verdict(offer, intent).starts_with("shape: short of example.com/fpga"));
}

struct LabelCase {
  model::LabelConstraint wanted;
  std::string verdict;
};

TEST(Filters, LabelConstraintsAreThoseOfKubernetes) {
  using model::Operator;
  model::Offer offer = make_offer("edge-1/small");
  offer.labels = {{"arch", "arm64"}, {"tier", "silver"}};
  const std::vector<LabelCase> cases = {
      {{"tier", Operator::in, {"gold", "silver"}}, "fits"},
      {{"tier", Operator::in, {"gold"}}, "label: label tier is silver, gold wanted"},
      {{"tier", Operator::in, {"gold", "steel"}},
       "label: label tier is silver, one of gold, steel wanted"},
      {{"zone", Operator::in, {"a"}}, "label: no label zone, a wanted"},
      {{"tier", Operator::in, {"arm64"}}, "label: label tier is silver, arm64 wanted"},
      {{"tier", Operator::not_in, {"gold"}}, "fits"},
      {{"tier", Operator::not_in, {"gold", "silver"}},
       "label: label tier is silver, which is ruled out"},
      {{"zone", Operator::not_in, {"a"}}, "fits"},
      {{"tier", Operator::exists, {}}, "fits"},
      {{"zone", Operator::exists, {}}, "label: no label zone, any value wanted"},
      {{"zone", Operator::absent, {}}, "fits"},
      {{"tier", Operator::absent, {}}, "label: label tier is silver, must be absent"},
  };
  for (const LabelCase& c : cases) {
    model::Intent intent = make_intent();
    intent.constraints.labels = {{"arch", Operator::in, {"arm64"}}, c.wanted};
    EXPECT_EQ(verdict(offer, intent), c.verdict);
  }
}

TEST(Filters, TheCountryMustBeListed) {
  model::Intent intent = make_intent();
  intent.constraints.countries = {"DE", "IT"};
  EXPECT_EQ(verdict(make_offer("edge-1/small"), intent), "fits");
  intent.constraints.countries = {"DE", "FR"};
  EXPECT_EQ(verdict(make_offer("edge-1/small"), intent), "country: in IT, one of DE, FR wanted");
  model::Offer nowhere = make_offer("edge-1/small");
  nowhere.place.country.clear();
  EXPECT_EQ(verdict(nowhere, intent), "country: in no stated country, one of DE, FR wanted");
}

TEST(Filters, ProvidersMayBeListedOrExcluded) {
  model::Intent intent = make_intent();
  intent.constraints.providers = {ClusterId("edge-1"), ClusterId("edge-2")};
  EXPECT_EQ(verdict(make_offer("edge-1/small"), intent), "fits");
  EXPECT_EQ(verdict(make_offer("edge-3/small"), intent),
            "provider: provider edge-3 is not among those wanted");
  intent.constraints.excluded_providers = {ClusterId("edge-1")};
  EXPECT_EQ(verdict(make_offer("edge-1/small"), intent), "provider: provider edge-1 is excluded");
}

TEST(Filters, EveryTaintMustBeTolerated) {
  model::Offer offer = make_offer("edge-1/small");
  offer.taints = {{"dedicated", "guests", model::TaintEffect::no_schedule},
                  {"spot", "", model::TaintEffect::no_execute}};
  model::Intent intent = make_intent();
  EXPECT_EQ(verdict(offer, intent), "taint: tainted with dedicated, spot, not tolerated");
  intent.constraints.tolerated_taints = {"dedicated"};
  EXPECT_EQ(verdict(offer, intent), "taint: tainted with spot, not tolerated");
  intent.constraints.tolerated_taints = {"dedicated", "spot"};
  EXPECT_EQ(verdict(offer, intent), "fits");
  intent.constraints.tolerated_taints = {};
  intent.constraints.tolerate_all_taints = true;
  EXPECT_EQ(verdict(offer, intent), "fits");
}

TEST(Filters, ThePriceHasALimit) {
  model::Intent intent = make_intent();
  intent.constraints.max_unit_hour = 400'000;
  EXPECT_EQ(verdict(make_offer("edge-1/small"), intent), "fits");
  intent.constraints.max_unit_hour = 399'999;
  EXPECT_EQ(verdict(make_offer("edge-1/small"), intent),
            "price: 0.4 EUR per unit-hour, at most 0.399999 EUR wanted");
}

TEST(Filters, TheLimitOnMoneyIsOnThePriceNotOnItsWorth) {
  model::Intent intent = make_intent();
  intent.worth.money_permille = 2000;
  intent.constraints.max_unit_hour = 400'000;
  EXPECT_EQ(verdict(make_offer("edge-1/small"), intent), "fits");
}

TEST(Filters, CarbonHasALimitAndUnknownIsBeyondIt) {
  model::Offer offer = make_offer("edge-1/small");
  model::Intent intent = make_intent();
  intent.constraints.max_carbon = 300;
  EXPECT_EQ(verdict(offer, intent), "carbon: carbon unknown, at most 300 g/kWh wanted");
  offer.energy = make_energy(301);
  EXPECT_EQ(verdict(offer, intent), "carbon: 301 g/kWh, at most 300 g/kWh wanted");
  offer.energy = make_energy(300);
  EXPECT_EQ(verdict(offer, intent), "fits");
}

TEST(Filters, TheDistanceHasALimitToTheMetre) {
  model::Offer offer = make_offer("edge-1/small");
  offer.place.longitude_microdegrees = k_degree;
  model::Intent intent = make_intent();
  intent.near = model::Place{};
  intent.constraints.max_distance_metres = k_degree_metres;
  EXPECT_EQ(verdict(offer, intent), "fits");
  intent.constraints.max_distance_metres = k_degree_metres - 1;
  EXPECT_EQ(verdict(offer, intent), "distance: 111195 m away, at most 111194 m wanted");
  intent.constraints.max_distance_metres = 50'000;
  EXPECT_EQ(verdict(offer, intent), "distance: 111 km away, at most 50 km wanted");
}

TEST(Filters, TheFarSideOfTheEarthIsWithinTheLargestDistance) {
  model::Offer offer = make_offer("edge-1/small");
  offer.place.longitude_microdegrees = 180 * k_degree;
  model::Intent intent = make_intent();
  intent.near = model::Place{};
  intent.constraints.max_distance_metres = 20'015'115;  // half the girth, rounded
  EXPECT_EQ(verdict(offer, intent), "fits");
  intent.constraints.max_distance_metres = 20'015'113;
  EXPECT_TRUE(verdict(offer, intent).starts_with("distance"));
}

TEST(Filters, TheLeaseMustBeLongEnough) {
  model::Intent intent = make_intent();
  intent.constraints.min_lease = hours(1);
  EXPECT_EQ(verdict(make_offer("edge-1/small"), intent), "fits");
  intent.constraints.min_lease = hours(2);
  EXPECT_EQ(verdict(make_offer("edge-1/small"), intent),
            "lease: leased for 1h at a time, at least 2h wanted");
}

TEST(Filters, ThePoolMustBeForSaleFreshAndNotSoldOut) {
  const model::Offer offer = make_offer("edge-1/small");
  Market market;
  market.catalogue.put_offer(offer);
  EXPECT_EQ(verdict(market, make_intent()),
            "paused: pool edge-1/pool is not for sale at the moment");
  market.catalogue.put_pool(offer.pool, {offer.shape, true, k_now});
  EXPECT_EQ(verdict(market, make_intent()),
            "stale: provider edge-1 has gone silent: it vouched until 2027-01-15T08:00:00Z");
  market.catalogue.put_pool(offer.pool, {offer.shape, true, k_now + milliseconds(1)});
  EXPECT_EQ(verdict(market, make_intent()), "fits");
  market.catalogue.put_pool(offer.pool, {{1999, 4 * k_gib, 0, 0, {}, {}}, true, k_now + hours(1)});
  EXPECT_EQ(verdict(market, make_intent()), "sold out: no unit is free in pool edge-1/pool");
  market.catalogue.erase_pool(offer.pool);
  EXPECT_EQ(verdict(market, make_intent()),
            "paused: pool edge-1/pool is not for sale at the moment");
}

TEST(Filters, ALastingReasonIsNamedBeforeAPassingOne) {
  Market market;
  market.add(make_offer("edge-1/small"), 0);
  model::Intent intent = make_intent();
  intent.constraints.max_unit_hour = 1;
  EXPECT_TRUE(verdict(market, intent).starts_with("price"));
}

TEST(DistanceText, IsAsFineAsItNeedsToBe) {
  EXPECT_EQ(distance_to_text(0), "0 m");
  EXPECT_EQ(distance_to_text(999), "999 m");
  EXPECT_EQ(distance_to_text(1000), "1.0 km");
  EXPECT_EQ(distance_to_text(9949), "9.9 km");
  EXPECT_EQ(distance_to_text(9950), "10 km");
  EXPECT_EQ(distance_to_text(611'500), "612 km");
}

}  // namespace
}  // namespace spillway::rank
