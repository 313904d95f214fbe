// What a query costs and what an offer weighs, at 1,000 providers of 10 offers.
#include <array>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>

#include "base/check.h"
#include "bench/bench.h"
#include "rank/query.h"

namespace spillway::bench {
namespace {

constexpr int k_providers = 1000;
constexpr int k_offers_each = 10;
constexpr int k_queries = 2000;
constexpr Instant k_now{1'800'000'000'000};
constexpr int64_t k_gib = int64_t{1} << 30;

struct City {
  const char* country;
  const char* region;
  const char* name;
  int32_t latitude;
  int32_t longitude;
};
constexpr std::array<City, 12> k_cities = {{
    {"IT", "Piemonte", "Torino", 45'070'312, 7'686'856},
    {"IT", "Lombardia", "Milano", 45'464'203, 9'189'982},
    {"DE", "Hessen", "Frankfurt am Main", 50'110'924, 8'682'127},
    {"FR", "Île-de-France", "Paris", 48'856'613, 2'352'222},
    {"ES", "Comunidad de Madrid", "Madrid", 40'416'775, -3'703'790},
    {"SE", "Stockholms län", "Stockholm", 59'329'323, 18'068'581},
    {"PL", "Mazowieckie", "Warszawa", 52'229'676, 21'012'229},
    {"IE", "Leinster", "Dublin", 53'349'805, -6'260'310},
    {"GR", "Attiki", "Athina", 37'983'810, 23'727'539},
    {"US", "Virginia", "Ashburn", 39'043'757, -77'487'441},
    {"JP", "Kanto", "Tokyo", 35'689'487, 139'691'706},
    {"BR", "São Paulo", "São Paulo", -23'550'520, -46'633'308},
}};
constexpr std::array<const char*, 4> k_tiers = {"bronze", "silver", "gold", "platinum"};

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  int64_t roll(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  int32_t roll32(int32_t low, int32_t high) { return static_cast<int32_t>(roll(low, high)); }
  template <class Choices>
  const auto& pick(const Choices& choices) {
    return choices[static_cast<size_t>(roll(0, static_cast<int64_t>(choices.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

// A provider's name, power mix and neighbourhood are its own; shapes, tiers and cities recur.
model::Offer make_offer(Dice& dice, int provider, int number, const City& city) {
  const std::string cluster = fmt::format("provider-{:04}", provider);
  const int64_t cores = int64_t{1} << dice.roll(0, 5);
  model::Offer offer;
  offer.id = OfferId(fmt::format("{}/offer-{:02}", cluster, number));
  offer.pool = PoolId(fmt::format("{}/pool-{}", cluster, number / 5));
  offer.shape.cpu_millis = cores * 1000;
  offer.shape.memory_bytes = cores * dice.roll(2, 8) * k_gib;
  offer.shape.pods = 110;
  offer.shape.storage_bytes = 100 * k_gib;
  if (number == 9) offer.shape.gpus = {{"nvidia-a100", dice.roll(1, 4)}};
  offer.price.cpu_hour = dice.roll(8'000, 60'000);
  offer.price.memory_gib_hour = dice.roll(1'000, 6'000);
  offer.price.storage_gib_hour = dice.roll(10, 200);
  if (number == 9) offer.price.gpu_hour = {{"nvidia-a100", dice.roll(900'000, 3'000'000)}};
  offer.price.minimum_term = minutes(10);
  offer.labels = {
      {"kubernetes.io/arch", dice.roll(0, 3) == 0 ? "arm64" : "amd64"},
      {"kubernetes.io/os", "linux"},
      {"node.kubernetes.io/instance-type", fmt::format("{}-c{}-{:02}", cluster, cores, number)},
      {"spillway.dev/network-tier", fmt::format("{}g", dice.roll(1, 4) * 10)},
      {"spillway.dev/storage-class", dice.roll(0, 1) == 0 ? "nvme" : "ssd"},
      {"spillway.dev/tier", dice.pick(k_tiers)},
      {"topology.kubernetes.io/region", fmt::format("{}-{}", city.country, dice.roll(1, 3))},
      {"topology.kubernetes.io/zone", fmt::format("{}-{}", cluster, dice.roll(1, 3))},
  };
  offer.taints = {{"spillway.dev/guest", "true", model::TaintEffect::no_schedule},
                  {"virtual-node.liqo.io/not-allowed", "true", model::TaintEffect::no_execute}};
  offer.place = {city.latitude + dice.roll32(-400'000, 400'000),
                 city.longitude + dice.roll32(-400'000, 400'000), city.country, city.region,
                 city.name};
  offer.network = {dice.roll(1, 40) * 1000, dice.roll(0, 90'000), dice.roll(0, 1) == 0, {}};
  model::Energy energy;
  energy.carbon_now = dice.roll32(20, 800);
  for (int hour = 0; hour < 24; ++hour) {
    energy.carbon_forecast.push_back(energy.carbon_now + dice.roll32(0, 90));
  }
  const int32_t solar = dice.roll32(0, 600);
  energy.mix = {{"grid", 900 - solar}, {"solar", solar}, {"wind", 100}};
  if (dice.roll(0, 4) > 0) energy.unit_milliwatts = cores * dice.roll(1'500, 5'000);
  energy.provenance = {"electricity-maps", k_now - minutes(dice.roll(0, 600)),
                       model::Evidence::claimed};
  offer.energy = energy;
  offer.visibility.selector = {{"spillway.dev/consortium", fmt::format("c-{}", dice.roll(0, 9))},
                               {"spillway.dev/vetted", "yes"}};
  if (dice.roll(0, 9) > 0) {
    offer.visibility.selector.erase(offer.visibility.selector.begin());
  }
  offer.terms.lease = hours(dice.roll(1, 24));
  offer.until = k_now + hours(dice.roll(1, 1000));
  return offer;
}

std::vector<model::Offer> make_offers() {
  Dice dice(1);
  std::vector<model::Offer> offers;
  for (int provider = 0; provider < k_providers; ++provider) {
    const City& city = dice.pick(k_cities);
    for (int number = 0; number < k_offers_each; ++number) {
      offers.push_back(make_offer(dice, provider, number, city));
      const Status valid = model::validate(offers.back());
      SPILLWAY_CHECK(valid, "the bench made an offer that no market would take");
    }
  }
  return offers;
}

void fill(rank::Catalogue& catalogue, const std::vector<model::Offer>& offers) {
  Dice dice(2);
  for (const model::Offer& offer : offers) {
    model::Resources free = offer.shape.times(dice.roll(0, 40));
    catalogue.put_pool(offer.pool, {std::move(free), dice.roll(0, 49) > 0, k_now + minutes(5)});
    catalogue.put_offer(offer);
  }
}

// A label, a price and a distance at most; what is wanted and what it is worth vary.
model::Intent make_intent(Dice& dice) {
  model::Intent intent;
  intent.shape.cpu_millis = dice.roll(1, 8) * 500;
  intent.shape.memory_bytes = dice.roll(1, 16) * k_gib;
  const City& city = dice.pick(k_cities);
  intent.near = model::Place{city.latitude, city.longitude, city.country, {}, {}};
  if (dice.roll(0, 1) == 0) {
    intent.constraints.labels = {{"kubernetes.io/arch", model::Operator::in, {"amd64"}}};
  } else {
    intent.constraints.labels = {
        {"spillway.dev/tier", model::Operator::in, {"silver", "gold", "platinum"}}};
  }
  intent.constraints.tolerated_taints = {"spillway.dev/guest", "virtual-node.liqo.io/not-allowed"};
  intent.constraints.max_unit_hour = dice.roll(200'000, 4'000'000);
  intent.constraints.max_distance_metres = dice.roll(50, 5000) * 1000;
  intent.worth.carbon_kg = dice.roll(0, 2) * 100'000;
  intent.worth.distance_1000km = dice.roll(0, 2) * 10'000;
  return intent;
}

size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace

SPILLWAY_BENCH(book, query) {
  rank::Catalogue catalogue;
  fill(catalogue, make_offers());
  const rank::Buyer buyer{ClusterId("buyer"),
                          {{"spillway.dev/consortium", "c-3"}, {"spillway.dev/vetted", "yes"}}};
  std::vector<double> p99;
  for (int repetition = 0; repetition < k_repetitions; ++repetition) {
    Dice dice(static_cast<uint64_t>(repetition) + 3);
    std::vector<double> milliseconds_taken;
    for (int i = 0; i < k_queries; ++i) {
      const model::Intent intent = make_intent(dice);
      const double before = cpu_seconds();
      const Result<rank::Ranking> ranking = rank::rank_offers(catalogue, intent, buyer, k_now);
      milliseconds_taken.push_back((cpu_seconds() - before) * 1000);
      SPILLWAY_CHECK(ranking.has_value(), "the bench asked for nonsense");
      keep(ranking);
    }
    p99.push_back(percentile(milliseconds_taken, 990));
  }
  report.at_most("query_p99_ms", p99, "ms", 2);
}

// All that the allocator hands out for a full catalogue, its own overhead, indexes and room to
// grow included.
SPILLWAY_BENCH(book, offer) {
  const std::vector<model::Offer> offers = make_offers();
  std::vector<double> bytes;
  for (int repetition = 0; repetition < k_repetitions; ++repetition) {
    const size_t before = heap_bytes();
    rank::Catalogue catalogue;
    fill(catalogue, offers);
    const size_t held = heap_bytes() - before + sizeof(catalogue);
    bytes.push_back(static_cast<double>(held) / static_cast<double>(offers.size()));
  }
  report.at_most("offer_bytes", bytes, "bytes", 1536);
}

}  // namespace spillway::bench
