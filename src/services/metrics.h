// Numbers about a service, in the text format of Prometheus. Lives on the loop's thread: no locks.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::services {

class Counter {
 public:
  void add(uint64_t n = 1) { value_ += n; }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0;
};

class Histogram {
 public:
  static constexpr std::array<double, 12> k_bounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                   0.05,   0.1,   0.25,   0.5,   1.0,  5.0};
  void observe(double seconds);

 private:
  friend class Metrics;
  std::array<uint64_t, k_bounds.size() + 1> buckets_{};
  double sum_ = 0;
  uint64_t count_ = 0;
};

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

class Metrics {
 public:
  // The same name and labels give the same one. References stay valid.
  Counter& counter(std::string_view name, std::string_view help, const MetricLabels& labels = {});
  Histogram& histogram(std::string_view name, std::string_view help,
                       const MetricLabels& labels = {});
  // Asked when somebody looks. By Prometheus's custom a name that ends in _total only grows, and is
  // told as a counter.
  void gauge(std::string_view name, std::string_view help, std::function<double()> read);

  std::string text() const;

 private:
  template <class T>
  struct Family {
    std::string help;
    std::map<std::string, T> by_labels;  // by the text of the labels
  };

  std::map<std::string, Family<Counter>, std::less<>> counters_;
  std::map<std::string, Family<Histogram>, std::less<>> histograms_;
  std::map<std::string, Family<std::function<double()>>, std::less<>> gauges_;
};

}  // namespace spillway::services
