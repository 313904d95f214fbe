#include "rank/cost.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "property/rank/random_market.h"

namespace spillway::rank {
namespace {

// A query skips what lies beyond its bounds: a bound that is off by one loses an offer.
RC_GTEST_PROP(CostTerm, BoundsEncloseTheAmountAndTheExplanationHasIt, ()) {
  model::Offer offer = any_offer(OfferId("edge-1/a"));
  offer.place.latitude_microdegrees = any(-90'000'000, 90'000'000);
  offer.place.longitude_microdegrees = any(-180'000'000, 180'000'000);
  model::Intent intent = any_intent();
  intent.near = one_in(3) ? offer.place : any_place();
  intent.worth.carbon_kg = any<int64_t>(1, model::k_max_price);
  intent.worth.distance_1000km = any<int64_t>(1, model::k_max_price);
  Catalogue catalogue;
  catalogue.put_offer(offer);
  const Row& row = catalogue.rows()[0];
  int64_t sum = 0;
  for (const auto& term : cost_terms(intent, k_now)) {
    const int64_t amount = term->amount(row);
    const CostTerm::Bounds bounds = term->bounds(row);
    RC_ASSERT(bounds.low <= amount);
    RC_ASSERT(amount <= bounds.high);
    RC_ASSERT(term->explain(row).amount == amount);
    sum += amount;
  }
  RC_ASSERT(sum == plain_score(offer, intent));
}

}  // namespace
}  // namespace spillway::rank
