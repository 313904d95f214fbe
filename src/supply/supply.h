// Supply: what a cluster has on sale. Its owner writes it into a file, or supply/offering.h makes
// it from what is free in the live cluster. What validate() takes the broker takes too, unless it
// changes what cannot change under an id.
#pragma once

#include <span>
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

// A pool that is withdrawn keeps its contracts (docs/book.md): when all of its nodes vanish, its
// guests would never hear of it. So each of `carrying`, the pools that contracts live on, stays in
// the supply: with no capacity, when it is not there by itself. The book then finds it oversold and
// notice is given.
void keep_pools(Supply& supply, std::span<const model::Pool> carrying);

}  // namespace spillway::supply
