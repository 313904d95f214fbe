// One plain, valid noun of each kind, for tests that bend a single field of it.
#pragma once

#include "model/cluster.h"
#include "model/contract.h"
#include "model/intent.h"
#include "model/offer.h"
#include "model/pool.h"

namespace spillway::test {

inline constexpr Instant k_some_day{1'769'851'800'250};  // 2026-01-31T09:30:00.250Z
inline constexpr int64_t k_gib = int64_t{1} << 30;

inline model::Resources plain_shape() {
  model::Resources shape;
  shape.cpu_millis = 2000;
  shape.memory_bytes = 4 * k_gib;
  shape.pods = 20;
  return shape;
}

inline model::Pool plain_pool() {
  return {PoolId("edge-1/standard"), plain_shape().times(4), plain_shape().times(12)};
}

inline model::Offer plain_offer() {
  model::Offer offer;
  offer.id = OfferId("edge-1/small");
  offer.pool = PoolId("edge-1/standard");
  offer.shape = plain_shape();
  offer.price.unit_hour = 50'000;
  offer.price.cpu_hour = 10'000;
  offer.labels = {{"arch", "amd64"}, {"zone", "a"}};
  offer.visibility.everyone = true;
  return offer;
}

inline model::Energy plain_energy() {
  model::Energy energy;
  energy.carbon_now = 230;
  energy.provenance = {"datasheet", k_some_day, model::Evidence::claimed};
  return energy;
}

inline model::Cluster plain_cluster() {
  model::Cluster cluster;
  cluster.id = ClusterId("edge-2");
  cluster.labels = {{"team", "blue"}};
  cluster.quota.units = 10;
  return cluster;
}

// Active, two units, the second of which has ended.
inline model::Contract plain_contract() {
  const model::Offer offer = plain_offer();
  model::Contract contract;
  contract.id = make_contract_id(k_some_day, 7, 8);
  contract.buyer = ClusterId("edge-2");
  contract.provider = ClusterId("edge-1");
  contract.pool = offer.pool;
  contract.offer = offer.id;
  contract.state = model::ContractState::active;
  contract.shape = offer.shape;
  contract.price = offer.price;
  contract.rate = model::hourly_rate(offer.price, offer.shape);
  contract.units = {{0, true, std::nullopt, 140'000, 0}, {1, false, k_some_day, 0, 70'000}};
  contract.created = k_some_day;
  contract.started = k_some_day;
  contract.deadline = k_some_day + hours(1);
  return contract;
}

// So many units of it, all live.
inline model::Contract contract_of_units(ContractId id, int32_t units) {
  model::Contract contract = plain_contract();
  contract.id = std::move(id);
  contract.units.assign(static_cast<size_t>(units), model::Unit{});
  for (int32_t i = 0; i < units; ++i) contract.units[static_cast<size_t>(i)].number = i;
  return contract;
}

inline model::Intent plain_intent() {
  model::Intent intent;
  intent.shape.cpu_millis = 500;
  intent.shape.memory_bytes = k_gib;
  intent.units = 2;
  return intent;
}

}  // namespace spillway::test
