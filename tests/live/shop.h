// A shop to buy from over the wire: the pool seller/pool and offers of it, seller/small above all.
#pragma once

#include <cstdint>
#include <string>

#include "live/federation.h"

namespace spillway::test {

// Of a unit that is so small that millions fit into one pool.
model::Resources tiny_shape();

// Which publication of the pool it is.
struct Published {
  int64_t sequence = 1;
  int64_t epoch = 0;
  int64_t report = 0;
};

// As the seller sends them.
net::Request put_pool(const model::Resources& unit, int64_t units, const Published& as = {});
net::Request put_offer(const model::Resources& unit, const std::string& name = "small");
// As a buyer asks for one unit of seller/small.
net::Request hold_one(const std::string& key);

// With units of the plain shape on sale.
void open_shop(Members& members, const Papers& seller, int64_t units);

}  // namespace spillway::test
