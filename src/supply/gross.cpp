#include "supply/gross.h"

#include <algorithm>
#include <bit>

#include "base/arithmetic.h"

namespace spillway::supply {
namespace {

void drop_deficits(model::Counts& counts) {
  std::erase_if(counts, [](const model::Count& count) { return count.amount <= 0; });
}

int64_t kept(int64_t allocatable, int64_t amount, int32_t permille) {
  return amount + multiply_divide_up(allocatable, permille, k_whole);
}

int64_t rounded_down(int64_t amount) {
  constexpr uint64_t k_steps = 64;
  const uint64_t step =
      std::max<uint64_t>(1, std::bit_floor(static_cast<uint64_t>(amount) / k_steps));
  return amount - amount % static_cast<int64_t>(step);
}

model::Resources size_of(const NodeRow& row, const GpuKinds& gpus) {
  model::Resources size = row.allocatable;
  size.memory_bytes = rounded_down(size.memory_bytes);
  size.storage_bytes = rounded_down(size.storage_bytes);
  model::Resources devices;
  devices.extended = row.devices;
  size += rest_of(devices, size);
  return by_model(std::move(size), gpus);
}

model::Resources headroom_on(const model::Resources& allocatable, const Headroom& headroom) {
  const int32_t permille = headroom.share_permille;
  model::Resources sum = headroom.amount;
  sum.cpu_millis = kept(allocatable.cpu_millis, sum.cpu_millis, permille);
  sum.memory_bytes = kept(allocatable.memory_bytes, sum.memory_bytes, permille);
  sum.pods = kept(allocatable.pods, sum.pods, permille);
  sum.storage_bytes = kept(allocatable.storage_bytes, sum.storage_bytes, permille);
  return sum;
}

}  // namespace

model::Resources rest_of(model::Resources a, const model::Resources& b) {
  a -= b;
  a.cpu_millis = std::max<int64_t>(a.cpu_millis, 0);
  a.memory_bytes = std::max<int64_t>(a.memory_bytes, 0);
  a.pods = std::max<int64_t>(a.pods, 0);
  a.storage_bytes = std::max<int64_t>(a.storage_bytes, 0);
  drop_deficits(a.gpus);
  drop_deficits(a.extended);
  return a;
}

model::Resources common_of(const model::Resources& a, const model::Resources& b) {
  return a - rest_of(a, b);
}

void raise_to(model::Resources& a, const model::Resources& b) { a += rest_of(b, a); }

void add_capped(model::Resources& sum, const model::Resources& part) {
  const auto cap = [](int64_t& amount) { amount = std::min(amount, model::k_max_amount); };
  sum += part;
  cap(sum.cpu_millis);
  cap(sum.memory_bytes);
  cap(sum.pods);
  cap(sum.storage_bytes);
  for (model::Count& count : sum.gpus) cap(count.amount);
  for (model::Count& count : sum.extended) cap(count.amount);
}

Gross gross_of(const View::Place& place, const OfferingPolicy& policy) {
  const NodeRow& row = *place.row;
  Gross gross;
  gross.gpus = gpu_kinds(row, policy.gpu_models);
  gross.size = size_of(row, gross.gpus);
  const model::Resources headroom = headroom_on(gross.size, policy.headroom);
  gross.empty = rest_of(gross.size, headroom);
  const model::Resources own = by_model(place.own.sum(), gross.gpus);
  gross.well = rest_of(gross.empty, own);
  const model::Resources there = common_of(gross.size, by_model(row.allocatable, gross.gpus));
  gross.now = rest_of(rest_of(there, headroom), own);
  return gross;
}

bool has_room(const Step& step, const GpuKinds& gpus, const model::Resources& room) {
  const bool sold_there = gpus.empty() || step.gpu_nodes || !step.shape.gpus.empty();
  return sold_there && room.covers(step.shape);
}

std::optional<size_t> last_step(const OfferingPolicy& policy, const GpuKinds& gpus,
                                const model::Resources& room) {
  for (size_t i = policy.ladder.size(); i > 0; --i) {
    if (has_room(policy.ladder[i - 1], gpus, room)) return i - 1;
  }
  return std::nullopt;
}

}  // namespace spillway::supply
