#include "supply/supply.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "model/validation.h"

namespace spillway::supply {
namespace {

Status check_offer(const model::Offer& offer, const std::map<PoolId, const model::Pool*>& pools) {
  SPILLWAY_TRY(validate(offer));
  const auto pool = pools.find(offer.pool);
  if (pool == pools.end()) {
    return model::refuse("pool", in_quotes(offer.pool.text) + " is not in this file",
                         "list it under pools, or name one that is");
  }
  if (const auto larger = pool->second->node.first_short(offer.shape); !larger.empty()) {
    return model::refuse(
        "shape", fmt::format("it is larger than one node of {} in {}", offer.pool.text, larger),
        fmt::format("offer at most {}", to_text(pool->second->node)));
  }
  return {};
}

}  // namespace

Status validate(const Supply& supply) {
  std::map<PoolId, const model::Pool*> pools;
  for (size_t i = 0; i < supply.pools.size(); ++i) {
    const model::Pool& pool = supply.pools[i];
    SPILLWAY_TRY(model::under("pools", i, validate(pool)));
    if (!pools.emplace(pool.id, &pool).second) {
      return model::under("pools", i,
                          model::refuse("id", in_quotes(pool.id.text) + " is there twice",
                                        "give each pool a name of its own"));
    }
  }
  std::set<OfferId> offers;
  for (size_t i = 0; i < supply.offers.size(); ++i) {
    const model::Offer& offer = supply.offers[i];
    SPILLWAY_TRY(model::under("offers", i, check_offer(offer, pools)));
    if (!offers.insert(offer.id).second) {
      return model::under("offers", i,
                          model::refuse("id", in_quotes(offer.id.text) + " is there twice",
                                        "give each offer a name of its own"));
    }
  }
  return {};
}

}  // namespace spillway::supply
