#include "supply/tally.h"

#include <algorithm>

namespace spillway::supply {
namespace {

int64_t capped(Int128 amount) {
  return amount > model::k_max_amount ? model::k_max_amount : static_cast<int64_t>(amount);
}

}  // namespace

void Tally::change(const Requests& requests, int sign) {
  cpu_millis_ += static_cast<Int128>(requests.cpu_millis) * sign;
  memory_bytes_ += static_cast<Int128>(requests.memory_bytes) * sign;
  storage_bytes_ += static_cast<Int128>(requests.storage_bytes) * sign;
  pods_ += sign;
  for (const model::Count& count : requests.extended) {
    const auto at = extended_.try_emplace(count.name, 0).first;
    at->second += static_cast<Int128>(count.amount) * sign;
    if (at->second == 0) extended_.erase(at);
  }
  SPILLWAY_CHECK(pods_ >= 0, "a pod was taken away that was never added");
}

model::Resources Tally::sum() const {
  model::Resources sum;
  sum.cpu_millis = capped(cpu_millis_);
  sum.memory_bytes = capped(memory_bytes_);
  sum.storage_bytes = capped(storage_bytes_);
  sum.pods = capped(pods_);
  for (const auto& [name, amount] : extended_) sum.extended.push_back({name, capped(amount)});
  return sum;
}

}  // namespace spillway::supply
