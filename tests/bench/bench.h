// The benchmarks' frame: a bench measures, a Report keeps what it found and holds it against a
// goal.
//
//   SPILLWAY_BENCH(book, query) {
//     ... measure, at least k_repetitions times ...
//     report.at_most("query_p99_ms", p99_of_each_repetition, "ms", 2);
//   }
//
// The value is the median of the repetitions; the spread is from the least to the most. Time is CPU
// time of the process: the machine that measures has other work to do. What waits (fsync, a lock)
// must be measured with wall_seconds instead, and say so in its name.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::bench {

inline constexpr int k_repetitions = 5;

double cpu_seconds();   // of this process, all threads
double wall_seconds();  // since an arbitrary moment

// Keeps the compiler from leaving out what computed it.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

double median(std::vector<double> values);
// The least value that at least `permille` of 1000 values do not exceed.
double percentile(std::vector<double> values, int permille);

struct Finding {
  std::string name;  // <group>.<what>_<unit, where it is one>
  double value = 0;  // median
  std::string unit;
  double goal = 0;
  bool is_at_most = true;  // else at least
  bool met = false;
  double least = 0;
  double most = 0;
};

class Report {
 public:
  explicit Report(std::string group) : group_(std::move(group)) {}

  void at_most(std::string_view name, std::vector<double> values, std::string_view unit,
               double goal) {
    add(name, std::move(values), unit, goal, true);
  }
  void at_least(std::string_view name, std::vector<double> values, std::string_view unit,
                double goal) {
    add(name, std::move(values), unit, goal, false);
  }
  const std::vector<Finding>& findings() const { return findings_; }

 private:
  void add(std::string_view name, std::vector<double> values, std::string_view unit, double goal,
           bool is_at_most);

  std::string group_;
  std::vector<Finding> findings_;
};

struct Bench {
  std::string group;
  std::string name;
  std::function<void(Report&)> run;
};

// Registers itself; its value means nothing.
bool add_bench(Bench bench);

}  // namespace spillway::bench

#define SPILLWAY_BENCH(group, name)                                          \
  static void bench_##group##_##name(::spillway::bench::Report& report);     \
  [[maybe_unused]] static const bool bench_##group##_##name##_is_known =     \
      ::spillway::bench::add_bench({#group, #name, bench_##group##_##name}); \
  static void bench_##group##_##name([[maybe_unused]] ::spillway::bench::Report& report)
