// Offer: a shape on sale from a pool. Several offers may draw on one pool.
//
// Under an offer id the shape, labels and taints never change, for they are promised to schedulers
// that cache them; price, place, energy, visibility and terms may, and hold for contracts made
// later.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/energy.h"
#include "model/labels.h"
#include "model/place.h"
#include "model/price.h"
#include "model/resources.h"
#include "model/visibility.h"

namespace spillway::model {

enum class OfferKind { capacity };  // service and sensor come later

// What both sides may count on. All of it goes into the contract.
struct Terms {
  Duration lease = hours(1);      // an active contract ends unless renewed within it
  Duration notice = minutes(10);  // between a provider's notice and the end
  Duration drain = minutes(1);    // between the end of a lease that was not renewed and the end
  Duration grace = minutes(15);   // how far a broker's outage may move the end of a lease
  // T: so long without their consumer, the provider stops guests that have an identity; the
  // consumer starts them elsewhere only after it (law 6).
  Duration fence = minutes(5);
  bool operator==(const Terms&) const = default;
};

// How a provider holds buyers' guests to what was granted (docs/fabric-rules.md), by its own word.
enum class Enforcement {
  unknown,  // it does not say
  none,     // by its agent alone, after the fact
  partial,
  full,  // by its API server
};
std::string_view to_text(Enforcement enforcement);

struct Offer {
  OfferId id;
  PoolId pool;
  OfferKind kind = OfferKind::capacity;
  Resources shape;
  Price price;
  Labels labels;
  std::vector<Taint> taints;
  Place place;
  Network network;
  std::optional<Energy> energy;
  Visibility visibility;
  Terms terms;
  std::optional<Instant> until;  // not sold after
  Enforcement enforcement = Enforcement::unknown;

  bool operator==(const Offer&) const = default;
};

Status validate(const Terms& terms);
Status validate(const Offer& offer);

// Empty when `next` may replace `current` under the same id, else the name of what differs.
std::string_view immutable_difference(const Offer& current, const Offer& next);

}  // namespace spillway::model
