// A small market for tests: plain offers that differ only in what a test says.
#pragma once

#include <string>

#include "base/check.h"
#include "model/intent.h"
#include "model/offer.h"
#include "rank/catalogue.h"
#include "rank/query.h"

namespace spillway::rank {

inline constexpr Instant k_now{1'800'000'000'000};
inline constexpr int64_t k_gib = int64_t{1} << 30;
// On the sphere of place.h one degree along the equator is 111,195.08 m.
inline constexpr int32_t k_degree = 1'000'000;
inline constexpr int64_t k_degree_metres = 111'195;

// 2 cpu, 4Gi, 0.4 EUR an hour, at 0° 0', for everyone, without energy.
inline model::Offer make_offer(const std::string& id) {
  model::Offer offer;
  offer.id = OfferId(id);
  offer.pool = PoolId(std::string(owner_of(id)) + "/pool");
  offer.shape.cpu_millis = 2000;
  offer.shape.memory_bytes = 4 * k_gib;
  offer.price.unit_hour = 400'000;
  offer.place.country = "IT";
  offer.visibility.everyone = true;
  return offer;
}

inline model::Energy make_energy(int32_t carbon, std::optional<int64_t> milliwatts = {}) {
  model::Energy energy;
  energy.carbon_now = carbon;
  energy.unit_milliwatts = milliwatts;
  energy.provenance = {"datasheet", k_now, model::Evidence::claimed};
  return energy;
}

// 1 cpu, 1Gi, whatever it costs in money, nothing else.
inline model::Intent make_intent() {
  model::Intent intent;
  intent.shape.cpu_millis = 1000;
  intent.shape.memory_bytes = k_gib;
  return intent;
}

class Market {
 public:
  Catalogue catalogue;
  Buyer buyer{ClusterId("buyer"), {}};

  // On sale, with so many units free in a pool that this offer does not share unless the test says
  // so.
  void add(const model::Offer& offer, int64_t units = 3) {
    const Status valid = model::validate(offer);
    SPILLWAY_CHECK(valid, valid ? "" : valid.error().message());
    catalogue.put_pool(offer.pool, {offer.shape.times(units), true, k_now + minutes(1)});
    catalogue.put_offer(offer);
  }

  Ranking rank(const model::Intent& intent, const Page& page = {},
               Detail detail = Detail::candidates) const {
    Result<Ranking> ranking = rank_offers(catalogue, intent, buyer, k_now, page, detail);
    SPILLWAY_CHECK(ranking, ranking ? "" : ranking.error().message());
    return *std::move(ranking);
  }
};

}  // namespace spillway::rank
