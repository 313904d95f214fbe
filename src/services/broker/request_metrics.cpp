#include "services/broker/request_metrics.h"

#include <fmt/format.h>

namespace spillway::services {
namespace {

MetricLabels labels_of(const Route* route) {
  if (route == nullptr) return {{"method", ""}, {"route", "none"}};
  return {{"method", std::string(route->method)}, {"route", std::string(route->path)}};
}

}  // namespace

void RequestMetrics::note(const Route* route, int status, double seconds) {
  const uint64_t number =
      route == nullptr ? 0 : static_cast<uint64_t>(route - all_routes().data()) + 1;
  Counter*& counter = counters_[number * 1000 + static_cast<uint64_t>(status)];
  if (counter == nullptr) {
    MetricLabels labels = labels_of(route);
    labels.emplace_back("status", fmt::format("{}", status));
    counter = &metrics_.counter("spillway_requests_total", "Requests answered, by route and status",
                                labels);
  }
  counter->add();
  Histogram*& histogram = histograms_[route];
  if (histogram == nullptr) {
    histogram =
        &metrics_.histogram("spillway_request_seconds",
                            "From the last byte of a request to its answer", labels_of(route));
  }
  histogram->observe(seconds);
}

}  // namespace spillway::services
