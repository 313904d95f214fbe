#include "rank/catalogue.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "property/rank/random_market.h"
#include "support/generators.h"

namespace spillway::rank {
namespace {

RC_GTEST_PROP(Catalogue, GivesBackEveryOfferAsItWasPut, ()) {
  const PlainMarket market = any_market();
  Catalogue catalogue;
  market.fill(catalogue);
  for (const auto& [id, offer] : market.offers) RC_ASSERT(catalogue.find(id).value() == offer);
}

// Whatever is valid, limits included.
RC_GTEST_PROP(Catalogue, PacksEveryValidOffer, ()) {
  const model::Offer offer = *test::any_offer();
  Catalogue catalogue;
  catalogue.put_offer(offer);
  RC_ASSERT(catalogue.find(offer.id).value() == offer);
  Instant when = *test::any_instant();
  if (offer.energy && one_in(2)) when = offer.energy->provenance.as_of + minutes(any(-60, 1500));
  RC_ASSERT(catalogue.rows()[0].packed.carbon_at(when) ==
            (offer.energy ? std::optional(carbon_at(*offer.energy, when)) : std::nullopt));
}

// Whatever was put, replaced and erased before: only what is there now counts, also for memory.
RC_GTEST_PROP(Catalogue, AnyHistoryEqualsACatalogueBuiltAfresh, ()) {
  PlainMarket market;
  Catalogue lived;
  const int steps = any(0, 60);
  for (int i = 0; i < steps; ++i) {
    const OfferId id = any_offer_id();
    const PoolId pool(std::string(owner_of(id.text)) + "/pool");
    switch (any(0, 5)) {
      case 0:
      case 1:
      case 2:
        market.offers[id] = any_offer(id);
        lived.put_offer(market.offers[id]);
        break;
      case 3:
        market.offers.erase(id);
        lived.erase_offer(id);
        break;
      case 4:
        market.pools[pool] = any_pool_state();
        lived.put_pool(pool, market.pools[pool]);
        break;
      default:
        market.pools.erase(pool);
        lived.erase_pool(pool);
    }
  }
  Catalogue fresh;
  market.fill(fresh);
  RC_ASSERT(lived.census() == fresh.census());
  for (const auto& [id, offer] : market.offers) RC_ASSERT(lived.find(id).value() == offer);
  const model::Intent intent = any_intent();
  const Buyer buyer = any_buyer();
  RC_ASSERT(rank_offers(lived, intent, buyer, k_now, {}, Detail::verdicts).value() ==
            rank_offers(fresh, intent, buyer, k_now, {}, Detail::verdicts).value());
  for (const auto& [id, offer] : market.offers) lived.erase_offer(id);
  for (const auto& [id, state] : market.pools) lived.erase_pool(id);
  RC_ASSERT(lived.census() == Census{});
}

}  // namespace
}  // namespace spillway::rank
