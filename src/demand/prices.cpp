#include "demand/prices.h"

#include <algorithm>

#include "demand/node_image.h"

namespace spillway::demand {
namespace {

constexpr int64_t k_whole = 1'000'000;

int64_t part_of(int64_t wanted, int64_t has) {
  if (wanted <= 0 || has <= 0) return 0;
  return multiply_divide_up(std::min(wanted, has), k_whole, has);
}

// Millionths of the node that a pod takes, by its largest request; at least its place as a pod.
int64_t share_of(const model::Resources& requests, const model::Resources& has) {
  int64_t share = std::max({part_of(requests.cpu_millis, has.cpu_millis),
                            part_of(requests.memory_bytes, has.memory_bytes),
                            part_of(requests.storage_bytes, has.storage_bytes),
                            part_of(std::max<int64_t>(requests.pods, 1), has.pods)});
  for (const model::Count& wanted : requests.extended) {
    for (const model::Count& one : has.extended) {
      if (one.name == wanted.name) share = std::max(share, part_of(wanted.amount, one.amount));
    }
  }
  return share;
}

}  // namespace

int64_t price_of_new(const model::Offer& offer, Duration window) {
  const int64_t rate = model::hourly_rate(offer.price, offer.shape);
  return std::max<int64_t>(model::charge_for(rate, std::max(window, offer.price.minimum_term)), 1);
}

int64_t price_of_held(const HeldPrice& held, Instant from, Instant to) {
  const Instant open = std::max(from, held.started + held.minimum_term);
  return std::max<int64_t>(model::charge_for(held.rate, to - open), 1);
}

PodPrices::PodPrices(const LedgerState& state) {
  for (const auto& [id, group] : state.groups) {
    if (!group.is_on_sale) continue;
    rows_.push_back(
        {as_node_has(group.offer.shape), model::hourly_rate(group.offer.price, group.offer.shape)});
  }
}

int64_t PodPrices::price(const model::Resources& requests, Duration window) const {
  int64_t least = INT64_MAX;
  for (const Row& row : rows_) {
    if (!row.has.covers(requests)) continue;
    least = std::min(least, multiply_divide_up(model::charge_for(row.rate, window),
                                               share_of(requests, row.has), k_whole));
  }
  return least == INT64_MAX ? 1 : std::max<int64_t>(least, 1);
}

}  // namespace spillway::demand
