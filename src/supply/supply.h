// Supply: what a cluster has on sale. Its owner writes it into a file, or supply/offering.h makes
// it from what is free in the live cluster. What validate() takes the broker takes too, unless it
// changes what cannot change under an id.
#pragma once

#include <vector>

#include "base/result.h"
#include "model/offer.h"
#include "model/pool.h"

namespace spillway::supply {

struct Supply {
  std::vector<model::Pool> pools;
  std::vector<model::Offer> offers;
  bool operator==(const Supply&) const = default;
};

// Each noun is valid, no id is there twice, every offer's pool is there and one node of it has room
// for the offer's shape.
Status validate(const Supply& supply);

}  // namespace spillway::supply
