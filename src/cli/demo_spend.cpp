#include "cli/demo_spend.h"

#include <algorithm>

namespace spillway::cli {
namespace {

constexpr int64_t k_hour_ms = hours(1).ms;

// mW × g/kWh × ms: a thousand times a thousand and an hour too many for milligrams.
int64_t carbon_of(const model::Offer& offer, Instant when, Duration held) {
  if (!offer.energy || !offer.energy->unit_milliwatts) return 0;
  const double kwh = static_cast<double>(*offer.energy->unit_milliwatts) / 1e6 *
                     static_cast<double>(held.ms) / static_cast<double>(k_hour_ms);
  return static_cast<int64_t>(kwh * carbon_at(*offer.energy, when) * 1e3);
}

void add(Use& use, const OnSale& sold, int64_t rate, Instant when, Duration held) {
  use.time = use.time + held;
  use.money += rate * held.ms / k_hour_ms;
  use.carbon_mg += carbon_of(sold.offer, when, held);
}

int64_t pods_in(const model::Resources& unit, const model::Resources& pod) {
  return std::min({unit.cpu_millis / pod.cpu_millis, unit.memory_bytes / pod.memory_bytes,
                   unit.pods / pod.pods});
}

}  // namespace

Use Spend::in_all() const {
  Use all;
  for (const auto& [seller, use] : sellers) {
    all.held += use.held;
    all.time = all.time + use.time;
    all.money += use.money;
    all.carbon_mg += use.carbon_mg;
  }
  return all;
}

Spend spend_of(const std::vector<model::Contract>& contracts, const std::vector<OnSale>& on_sale,
               FastTime time, Instant until) {
  Spend spend;
  for (const OnSale& sold : on_sale) spend.sellers[sold.seller];
  for (const model::Contract& contract : contracts) {
    const auto sold = std::find_if(on_sale.begin(), on_sale.end(), [&](const OnSale& one) {
      return one.offer.id == contract.offer;
    });
    if (sold == on_sale.end() || !contract.started || *contract.started >= until) continue;
    Use& use = spend.sellers[sold->seller];
    const Instant from = std::max(*contract.started, time.begun);
    for (const model::Unit& unit : contract.units) {
      const Instant to = std::min(unit.ended.value_or(until), until);
      if (to < from) continue;
      add(use, *sold, contract.rate, from, {(to - from).ms * time.speed});
      if (unit.ended && *unit.ended <= until) continue;
      use.held += 1;
      spend.rate += contract.rate;
    }
  }
  return spend;
}

Spend always_on(const std::vector<OnSale>& on_sale, int32_t pods, const model::Resources& pod,
                Duration held) {
  std::vector<const OnSale*> order;
  for (const OnSale& sold : on_sale) {
    if (pods_in(sold.offer.shape, pod) > 0) order.push_back(&sold);
  }
  std::sort(order.begin(), order.end(), [&](const OnSale* a, const OnSale* b) {
    return a->rate * pods_in(b->offer.shape, pod) < b->rate * pods_in(a->offer.shape, pod);
  });
  Spend spend;
  int64_t left = pods;
  for (const OnSale* sold : order) {
    Use& use = spend.sellers[sold->seller];
    for (int32_t i = 0; i < sold->units && left > 0; ++i) {
      add(use, *sold, sold->rate, {}, held);
      use.held += 1;
      spend.rate += sold->rate;
      left -= pods_in(sold->offer.shape, pod);
    }
  }
  return spend;
}

}  // namespace spillway::cli
