// Tally: the sum of what many pods request, by adding and taking away one at a time. Its sums are
// 128 bits wide: a pod may ask for absurd amounts, many may, and each must still be taken away as
// exactly as it was added.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/arithmetic.h"
#include "model/resources.h"
#include "supply/requests.h"

namespace spillway::supply {

class Tally {
 public:
  void add(const Requests& requests) { change(requests, 1); }
  void subtract(const Requests& requests) { change(requests, -1); }  // one that was added

  int64_t pods() const { return pods_; }
  // Each amount up to model::k_max_amount; a node has no more.
  model::Resources sum() const;
  bool operator==(const Tally&) const = default;

 private:
  void change(const Requests& requests, int sign);

  Int128 cpu_millis_ = 0;
  Int128 memory_bytes_ = 0;
  Int128 storage_bytes_ = 0;
  int64_t pods_ = 0;
  std::map<std::string, Int128> extended_;  // no zeros
};

}  // namespace spillway::supply
