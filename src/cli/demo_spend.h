// What a run of the demo took, by seller: units, the time for which they were held, money, carbon.
// It is read from the contracts in the broker's book, at their rates; times count on the fast
// clock.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/demo_clock.h"
#include "cli/demo_federation.h"

namespace spillway::cli {

struct Use {
  int32_t held = 0;   // at the end of what is counted
  Duration time;      // of all units together
  int64_t money = 0;  // micro-units
  int64_t carbon_mg = 0;
};

struct Spend {
  std::map<std::string, Use> sellers;

  Use in_all() const;
  int64_t rate = 0;  // micro-units an hour, of what is held at the end of what is counted
};

// From the beginning of the run to `until`.
Spend spend_of(const std::vector<model::Contract>& contracts, const std::vector<OnSale>& on_sale,
               FastTime time, Instant until);

// If so many pods had a place all the time, at those who are cheapest for a pod.
Spend always_on(const std::vector<OnSale>& on_sale, int32_t pods, const model::Resources& pod,
                Duration held);

}  // namespace spillway::cli
