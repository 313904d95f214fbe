#include "bench/holding.h"

#include <fmt/format.h>

namespace spillway::bench {
namespace {

model::Resources shape() {
  model::Resources shape;
  shape.cpu_millis = 2000;
  shape.memory_bytes = int64_t{2} << 30;
  shape.pods = 20;
  return shape;
}

model::Offer offer() {
  model::Offer offer;
  offer.id = OfferId("edge-1/small");
  offer.pool = PoolId("edge-1/standard");
  offer.shape = shape();
  offer.price.cpu_hour = 20'000;
  offer.price.memory_gib_hour = 3'000;
  offer.labels = {{"kubernetes.io/arch", "amd64"}, {"topology.kubernetes.io/zone", "turin-1"}};
  offer.visibility.everyone = true;
  return offer;
}

}  // namespace

ClusterId buyer_number(int number) { return ClusterId(fmt::format("buyer-{}", number)); }

std::vector<market::Command> market_of_one_pool(int64_t units, int buyers) {
  const ClusterId provider("edge-1");
  std::vector<market::Command> commands;
  model::Cluster cluster;
  cluster.id = provider;
  commands.emplace_back(market::PutCluster{cluster});
  for (int i = 0; i < buyers; ++i) {
    cluster.id = buyer_number(i);
    cluster.quota.units = units;
    cluster.budget = model::Budget{Money{int64_t{1} << 60, Currency{}}, {}};
    commands.emplace_back(market::PutCluster{cluster});
  }
  model::Pool pool;
  pool.id = offer().pool;
  pool.node = shape();
  pool.capacity = pool.node.times(units);
  commands.emplace_back(market::PublishPool{provider, pool, 1, hours(1), {}});
  commands.emplace_back(market::PublishOffer{provider, offer(), 1});
  return commands;
}

market::Hold hold_number(int64_t number, int buyers) {
  market::Hold hold;
  hold.buyer = buyer_number(static_cast<int>(number % buyers));
  hold.key = fmt::format("key-{}", number);
  hold.lines = {{offer().id, 1, 1}};
  hold.ttl = minutes(10);
  return hold;
}

}  // namespace spillway::bench
