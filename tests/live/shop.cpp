#include "live/shop.h"

#include "support/nouns.h"

namespace spillway::test {

model::Resources tiny_shape() {
  model::Resources shape;
  shape.cpu_millis = 1;
  shape.memory_bytes = 1 << 20;
  return shape;
}

net::Request put_pool(const model::Resources& unit, int64_t units, const Published& as) {
  const model::Pool pool{PoolId("seller/pool"), unit, unit.times(units)};
  const wire::PoolPut body{pool, as.sequence, hours(1), {}, as.epoch, as.report};
  return Members::put("/v1/pools/seller/pool", model::write_json(body));
}

net::Request put_offer(const model::Resources& unit, const std::string& name) {
  model::Offer offer = plain_offer();
  offer.id = OfferId("seller/" + name);
  offer.pool = PoolId("seller/pool");
  offer.shape = unit;
  return Members::put("/v1/offers/seller/" + name, model::write_json(wire::OfferPut{offer, 1}));
}

net::Request hold_one(const std::string& key) {
  static const std::string body =
      model::write_json(wire::HoldRequest{{{OfferId("seller/small"), 1, 1}}, minutes(10)});
  net::Request request = Members::post("/v1/holds", body);
  request.headers.push_back({"Idempotency-Key", key});
  return request;
}

void open_shop(Members& members, const Papers& seller, int64_t units) {
  const auto pool = members.call(seller, put_pool(plain_shape(), units));
  ASSERT_EQ(pool.status, 200) << pool.body;
  const auto offer = members.call(seller, put_offer(plain_shape()));
  ASSERT_EQ(offer.status, 204) << offer.body;
}

}  // namespace spillway::test
