#include "supply/gross.h"

#include <algorithm>

#include "base/arithmetic.h"

namespace spillway::supply {
namespace {

constexpr int64_t k_whole = 1000;  // permille

void drop_deficits(model::Counts& counts) {
  std::erase_if(counts, [](const model::Count& count) { return count.amount <= 0; });
}

int64_t kept(int64_t allocatable, int64_t amount, int32_t permille) {
  return amount + multiply_divide_up(allocatable, permille, k_whole);
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

Gross gross_of(const View::Place& place, const OfferingPolicy& policy) {
  const NodeRow& row = *place.row;
  Gross gross;
  gross.gpus = gpu_kinds(row, policy.gpu_models);
  const model::Resources allocatable = by_model(row.allocatable, gross.gpus);
  gross.empty = rest_of(allocatable, headroom_on(allocatable, policy.headroom));
  gross.now = rest_of(gross.empty, by_model(place.own.sum(), gross.gpus));
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
