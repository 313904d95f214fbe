// Random markets from small alphabets, so that labels match, costs tie and pools run dry; and what
// a query must answer, computed the plain way: every offer whole, every test spelled out, one sort.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <rapidcheck.h>

#include "base/arithmetic.h"
#include "model/intent.h"
#include "model/offer.h"
#include "model/price.h"
#include "rank/catalogue.h"
#include "rank/query.h"

namespace spillway::rank {

inline constexpr Instant k_now{1'800'000'000'000};
inline constexpr int64_t k_gib = int64_t{1} << 30;

// --- generators: to be called inside a property ---

// Both included; all of the range from the first case on: rapidcheck would begin with its lower
// end.
template <class Integer>
Integer any(Integer low, Integer high) {
  return static_cast<Integer>(*rc::gen::resize(
      rc::kNominalSize,
      rc::gen::inRange<int64_t>(static_cast<int64_t>(low), static_cast<int64_t>(high) + 1)));
}

inline bool one_in(int n) { return any(1, n) == n; }

template <size_t N>
std::string any_of(const std::array<const char*, N>& words) {
  return words[any<size_t>(0, N - 1)];
}

inline constexpr std::array<const char*, 3> k_keys = {"arch", "tier", "zone"};
inline constexpr std::array<const char*, 3> k_values = {"a", "b", "c"};
inline constexpr std::array<const char*, 3> k_countries = {"DE", "FR", "IT"};
inline constexpr std::array<const char*, 2> k_models = {"nvidia-a100", "nvidia-t4"};

inline model::Labels any_labels() {
  model::Labels labels;
  for (const char* key : k_keys) {
    if (!one_in(3)) labels.push_back({key, any_of(k_values)});
  }
  return labels;
}

inline model::Counts any_counts(const std::array<const char*, 2>& names) {
  model::Counts counts;
  for (const char* name : names) {
    if (one_in(3)) counts.push_back({name, any<int64_t>(1, 3)});
  }
  return counts;
}

inline model::Resources any_shape() {
  model::Resources shape;
  shape.cpu_millis = any<int64_t>(1, 4) * 1000;
  shape.memory_bytes = any<int64_t>(1, 4) * k_gib;
  if (one_in(2)) shape.pods = any<int64_t>(1, 110);
  if (one_in(4)) shape.storage_bytes = any<int64_t>(1, 9) * k_gib;
  if (one_in(3)) shape.gpus = any_counts(k_models);
  if (one_in(5)) shape.extended = any_counts({"example.com/fpga", "example.com/nic"});
  return shape;
}

inline model::Place any_place() {
  model::Place place;
  place.latitude_microdegrees = any(-90, 90) * 1'000'000;
  place.longitude_microdegrees = any(-180, 180) * 1'000'000;
  if (one_in(3)) place.latitude_microdegrees = 0;  // antipodes and neighbours
  if (one_in(3)) place.longitude_microdegrees = any(0, 1) * 180'000'000;
  place.country = any_of(k_countries);
  return place;
}

inline model::Energy any_energy() {
  model::Energy energy;
  energy.carbon_now = any(0, 900);
  if (one_in(2)) {
    for (int hour = 0; hour < 24; ++hour) energy.carbon_forecast.push_back(any(0, 900));
  }
  if (one_in(2)) {
    const int32_t solar = any(0, 1000);
    energy.mix = {{"solar", solar}, {"grid", 1000 - solar}};
  }
  if (one_in(2)) energy.unit_milliwatts = any<int64_t>(0, 20'000);
  energy.provenance = {one_in(2) ? "kepler" : "datasheet", k_now - minutes(any(-2, 60) * 30),
                       one_in(2) ? model::Evidence::claimed : model::Evidence::measured};
  return energy;
}

inline model::Visibility any_visibility() {
  model::Visibility visibility;
  visibility.everyone = !one_in(3);
  if (visibility.everyone) return visibility;
  if (one_in(2)) visibility.clusters = {ClusterId("buyer"), ClusterId("buyer-2")};
  if (one_in(2)) visibility.selector = {{"vetted", any_of(k_values)}};
  return visibility;
}

inline OfferId any_offer_id() {
  return OfferId("edge-" + std::to_string(any(1, 8)) + "/" + any_of(k_values));
}

inline model::Offer any_offer(const OfferId& id) {
  model::Offer offer;
  offer.id = id;
  offer.pool = PoolId(std::string(owner_of(id.text)) + "/" + (one_in(2) ? "pool" : "spare"));
  offer.shape = any_shape();
  offer.price.currency = parse_currency(one_in(6) ? "USD" : "EUR").value();
  if (one_in(3)) offer.price.basis = model::PriceBasis::pay_per_use;
  offer.price.unit_hour = any<int64_t>(0, 3) * 100;
  if (one_in(3)) offer.price.cpu_hour = any<int64_t>(0, 3) * 100 + any<int64_t>(0, 3);
  if (one_in(3)) offer.price.memory_gib_hour = any<int64_t>(0, 500);
  if (one_in(5)) offer.price.storage_gib_hour = any<int64_t>(0, 500);
  if (one_in(3)) offer.price.gpu_hour = any_counts(k_models);
  if (one_in(5)) offer.price.extended_hour = any_counts({"example.com/fpga", "example.com/nic"});
  offer.price.minimum_term = minutes(any(0, 20));
  offer.labels = any_labels();
  for (const char* key : k_keys) {
    if (one_in(6)) offer.taints.push_back({key, any_of(k_values), model::TaintEffect{any(0, 2)}});
  }
  offer.place = any_place();
  offer.place.region = any_of(k_values);
  if (one_in(2)) offer.place.city = any_of(k_values);
  offer.network = {any<int64_t>(0, 9), any<int64_t>(0, 9), one_in(2), {}};
  if (!one_in(3)) offer.energy = any_energy();
  offer.visibility = any_visibility();
  offer.terms = {hours(any(1, 4)), minutes(any(0, 9)), minutes(any(0, 9)), minutes(any(0, 9))};
  if (one_in(4)) offer.until = k_now + hours(any(-1, 5));
  RC_ASSERT(model::validate(offer).has_value());
  return offer;
}

inline PoolState any_pool_state() {
  PoolState state;
  state.free = any_shape().times(any<int64_t>(0, 6));
  if (!one_in(3)) state.free += {40'000, 40 * k_gib, 400, 40 * k_gib, {}, {}};
  if (!one_in(3)) state.free.gpus = {{k_models[0], 6}, {k_models[1], 6}};
  if (one_in(8)) state.free -= any_shape();
  state.sellable = !one_in(8);
  state.sellable_until = k_now + minutes(any(0, 8) == 0 ? 0 : 5);
  return state;
}

inline model::LabelConstraint any_label_constraint() {
  model::LabelConstraint constraint;
  constraint.key = one_in(8) ? "unheard-of" : any_of(k_keys);
  constraint.op = model::Operator{any(0, 3)};
  if (constraint.op == model::Operator::in || constraint.op == model::Operator::not_in) {
    constraint.values = {any_of(k_values)};
    if (one_in(2)) constraint.values.emplace_back(any_of(k_values));
    if (one_in(8)) constraint.values.emplace_back("unheard-of");
  }
  return constraint;
}

// Half of them ask for little, so that there is much to rank.
inline model::Intent any_intent() {
  model::Intent intent;
  const int rarity = one_in(2) ? 1 : 5;
  intent.shape.cpu_millis = any<int64_t>(1, 2) * 1000;
  if (one_in(rarity)) intent.shape.memory_bytes = any<int64_t>(0, 2) * k_gib;
  if (one_in(6 * rarity)) intent.shape.gpus = any_counts(k_models);
  if (one_in(9 * rarity))
    intent.shape.extended = any_counts({"example.com/fpga", "example.com/nic"});
  model::Constraints& wanted = intent.constraints;
  while (one_in(3 * rarity)) wanted.labels.push_back(any_label_constraint());
  if (one_in(5 * rarity)) wanted.countries = {any_of(k_countries), "CH"};
  if (one_in(6 * rarity)) {
    wanted.providers = {ClusterId("edge-1"), ClusterId("edge-2"), ClusterId("gone")};
  }
  if (one_in(6 * rarity)) wanted.excluded_providers = {ClusterId("edge-1"), ClusterId("edge-3")};
  wanted.tolerate_all_taints = !one_in(2 * rarity);
  while (one_in(2)) wanted.tolerated_taints.emplace_back(any_of(k_keys));
  if (one_in(4 * rarity)) wanted.max_unit_hour = any<int64_t>(0, 15) * 100;
  if (one_in(5 * rarity)) wanted.max_carbon = any(0, 900);
  if (one_in(5 * rarity)) wanted.min_lease = hours(any(0, 4));
  intent.worth.money_permille = one_in(3) ? any<int64_t>(0, 3) * 250 : 1000;
  if (one_in(2)) intent.worth.carbon_kg = any<int64_t>(0, 5) * 100'000;
  if (one_in(2)) intent.near = any_place();
  if (intent.near && one_in(3 * rarity)) {
    wanted.max_distance_metres = any<int64_t>(0, 20'100) * 1000;
  }
  if (one_in(2)) intent.worth.distance_1000km = any<int64_t>(0, 5) * (one_in(2) ? 100 : 1'000'000);
  RC_ASSERT(model::validate(intent).has_value());
  return intent;
}

inline Buyer any_buyer() {
  Buyer buyer{ClusterId(one_in(2) ? "buyer" : "stranger"), {}};
  if (one_in(2)) buyer.operator_labels = {{"region", "eu"}, {"vetted", any_of(k_values)}};
  return buyer;
}

// --- the plain way ---

struct PlainMarket {
  std::map<OfferId, model::Offer> offers;
  std::map<PoolId, PoolState> pools;

  // In any order of the offers.
  void fill(Catalogue& catalogue) const {
    std::vector<const model::Offer*> order;
    for (const auto& [id, offer] : offers) {
      const int64_t place = any<int64_t>(0, static_cast<int64_t>(order.size()));
      order.insert(order.begin() + place, &offer);
    }
    for (const model::Offer* offer : order) catalogue.put_offer(*offer);
    for (const auto& [id, state] : pools) catalogue.put_pool(id, state);
  }
};

inline PlainMarket any_market() {
  PlainMarket market;
  const int count = any(0, 40);
  for (int i = 0; i < count; ++i) {
    const OfferId id = any_offer_id();
    market.offers[id] = any_offer(id);
    if (!one_in(10)) market.pools[market.offers[id].pool] = any_pool_state();
  }
  return market;
}

inline bool plainly_satisfies(const model::LabelConstraint& wanted, const model::Labels& labels) {
  const std::string* value = model::find_label(labels, wanted.key);
  const bool is_listed =
      value != nullptr && std::count(wanted.values.begin(), wanted.values.end(), *value) > 0;
  switch (wanted.op) {
    case model::Operator::in:
      return is_listed;
    case model::Operator::not_in:
      return !is_listed;
    case model::Operator::exists:
      return value != nullptr;
    case model::Operator::absent:
      return value == nullptr;
  }
  return false;
}

template <class T>
bool plainly_lists(const std::vector<T>& list, const T& value) {
  return std::count(list.begin(), list.end(), value) > 0;
}

inline std::optional<Reason> plain_reason(const model::Offer& offer, const PoolState& pool,
                                          const model::Intent& intent) {
  const model::Constraints& wanted = intent.constraints;
  const ClusterId provider{std::string(owner_of(offer.id.text))};
  if (offer.until && k_now >= *offer.until) return Reason::ended;
  if (offer.price.currency != intent.currency) return Reason::currency;
  if (!offer.shape.covers(intent.shape)) return Reason::shape;
  for (const model::LabelConstraint& constraint : wanted.labels) {
    if (!plainly_satisfies(constraint, offer.labels)) return Reason::label;
  }
  if (!wanted.countries.empty() && !plainly_lists(wanted.countries, offer.place.country)) {
    return Reason::country;
  }
  if (!wanted.providers.empty() && !plainly_lists(wanted.providers, provider)) {
    return Reason::provider;
  }
  if (plainly_lists(wanted.excluded_providers, provider)) return Reason::provider;
  for (const model::Taint& taint : offer.taints) {
    if (!wanted.tolerate_all_taints && !plainly_lists(wanted.tolerated_taints, taint.key)) {
      return Reason::taint;
    }
  }
  if (wanted.max_unit_hour && hourly_rate(offer.price, offer.shape) > *wanted.max_unit_hour) {
    return Reason::price;
  }
  if (wanted.max_carbon &&
      (!offer.energy || carbon_at(*offer.energy, k_now) > *wanted.max_carbon)) {
    return Reason::carbon;
  }
  if (wanted.max_distance_metres &&
      great_circle_metres(*intent.near, offer.place) > *wanted.max_distance_metres) {
    return Reason::distance;
  }
  if (wanted.min_lease && offer.terms.lease < *wanted.min_lease) return Reason::lease;
  if (!pool.sellable) return Reason::paused;
  if (k_now >= pool.sellable_until) return Reason::stale;
  if (pool.free.how_many(offer.shape) < 1) return Reason::sold_out;
  return std::nullopt;
}

inline int64_t plain_score(const model::Offer& offer, const model::Intent& intent) {
  const auto up = [](Int128 product, int64_t divisor) {
    return static_cast<int64_t>(product / divisor + (product % divisor != 0 ? 1 : 0));
  };
  Int128 power = static_cast<Int128>(offer.shape.cpu_millis) * 3500 / 1000;
  for (const model::Count& gpu : offer.shape.gpus)
    power += static_cast<Int128>(gpu.amount) * 300'000;
  int64_t milliwatts = power > 1'000'000'000 ? 1'000'000'000 : static_cast<int64_t>(power);
  if (offer.energy && offer.energy->unit_milliwatts) milliwatts = *offer.energy->unit_milliwatts;
  const int64_t carbon = offer.energy ? carbon_at(*offer.energy, k_now) : 820;
  const int64_t rate = hourly_rate(offer.price, offer.shape);
  const model::Worth& worth = intent.worth;
  int64_t score = up(static_cast<Int128>(rate) * worth.money_permille, 1000);
  score += up(static_cast<Int128>(milliwatts) * carbon * worth.carbon_kg, 1'000'000'000);
  if (intent.near) {
    const int64_t metres = great_circle_metres(*intent.near, offer.place);
    score += up(static_cast<Int128>(metres) * worth.distance_1000km, 1'000'000);
  }
  return score;
}

struct PlainRanking {
  std::vector<std::pair<int64_t, OfferId>> fitting;  // by cost and id
  std::map<Reason, int64_t> ruled_out;
  int64_t considered = 0;
};

inline PlainRanking plain_rank(const PlainMarket& market, const model::Intent& intent,
                               const Buyer& buyer) {
  PlainRanking ranking;
  for (const auto& [id, offer] : market.offers) {
    if (!may_see(offer.visibility, buyer.id, buyer.operator_labels)) continue;
    ++ranking.considered;
    const auto pool = market.pools.find(offer.pool);
    const std::optional<Reason> reason =
        plain_reason(offer, pool == market.pools.end() ? PoolState{} : pool->second, intent);
    if (reason) {
      ++ranking.ruled_out[*reason];
    } else {
      ranking.fitting.emplace_back(plain_score(offer, intent), id);
    }
  }
  std::sort(ranking.fitting.begin(), ranking.fitting.end());
  return ranking;
}

}  // namespace spillway::rank
