#include "rank/sphere.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "property/rank/random_market.h"

namespace spillway::rank {
namespace {

model::Place precise_place() {
  model::Place place;
  place.latitude_microdegrees = any(-90'000'000, 90'000'000);
  place.longitude_microdegrees = any(-180'000'000, 180'000'000);
  return place;
}

// A place, one nearby or on the far side, or any other: the hard cases are the first two.
std::pair<model::Place, model::Place> two_places() {
  const model::Place a = precise_place();
  model::Place b = precise_place();
  if (one_in(2)) {
    b = a;
    if (one_in(2)) {
      b.latitude_microdegrees = -a.latitude_microdegrees;
      b.longitude_microdegrees += a.longitude_microdegrees > 0 ? -180'000'000 : 180'000'000;
    }
    b.latitude_microdegrees =
        std::clamp(b.latitude_microdegrees + any(-100, 100), -90'000'000, 90'000'000);
    b.longitude_microdegrees =
        std::clamp(b.longitude_microdegrees + any(-100, 100), -180'000'000, 180'000'000);
  }
  return {a, b};
}

RC_GTEST_PROP(Sphere, TheRoughDistanceIsWithinItsSlack, ()) {
  const auto [a, b] = two_places();
  const int64_t rough =
      roughly_metres(direction_of(a.latitude_microdegrees, a.longitude_microdegrees),
                     direction_of(b.latitude_microdegrees, b.longitude_microdegrees));
  RC_ASSERT(std::abs(rough - model::great_circle_metres(a, b)) <= k_slack_metres);
}

RC_GTEST_PROP(Sphere, ALimitOnDistanceHoldsToTheMetre, ()) {
  const auto [a, b] = two_places();
  model::Offer offer = any_offer(OfferId("edge-1/a"));
  offer.place = b;
  Catalogue catalogue;
  catalogue.put_offer(offer);
  model::Intent intent;
  intent.shape.cpu_millis = 1;
  intent.near = a;
  const int64_t metres = model::great_circle_metres(a, b);
  const int64_t limit = std::max<int64_t>(metres + any<int64_t>(-4, 4), 0);
  intent.constraints.max_distance_metres = limit;
  const Filters filters(catalogue, intent, k_now);
  RC_ASSERT(filters.fails(Reason::distance, catalogue.rows()[0]) == (metres > limit));
}

}  // namespace
}  // namespace spillway::rank
