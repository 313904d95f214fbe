// Counts of requests, with the look-up by name done once for each route and status.
#pragma once

#include <unordered_map>

#include "services/broker/routes.h"
#include "services/metrics.h"

namespace spillway::services {

class RequestMetrics {
 public:
  explicit RequestMetrics(Metrics& metrics) : metrics_(metrics) {}
  void note(const Route* route, int status, double seconds);  // null: no route fitted

 private:
  Metrics& metrics_;
  std::unordered_map<uint64_t, Counter*> counters_;  // by route and status
  std::unordered_map<const Route*, Histogram*> histograms_;
};

}  // namespace spillway::services
