// How the pods that a buyer was granted are dealt out among its namespaces.
#pragma once

#include <cstdint>
#include <vector>

namespace spillway::fabric {

struct PodShare {
  bool is_there = false;  // its quota
  int64_t hard = 0;       // as it is written
  int64_t admitted = 0;   // what is let in by now: Kubernetes follows what is written a bit later
  int64_t used = 0;
};

// What each should have, in the same order. The sum of what is let in never exceeds `total`, with
// these written in any order, unless that was so already.
std::vector<int64_t> deal_pods(int64_t total, const std::vector<PodShare>& shares);

}  // namespace spillway::fabric
