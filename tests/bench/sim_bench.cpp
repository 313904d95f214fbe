// The simulator: events per second on one core, and the gate of 50 seeds.
#include "base/check.h"
#include "bench/bench.h"
#include "sim/simulation.h"

namespace spillway::bench {

SPILLWAY_BENCH(sim, gate) {
  constexpr uint64_t k_seeds = 50;
  std::vector<double> rates;
  std::vector<double> gates;
  for (int repetition = 0; repetition < k_repetitions; ++repetition) {
    const double start = cpu_seconds();
    const double wall = wall_seconds();
    uint64_t steps = 0;
    for (uint64_t seed = 1; seed <= k_seeds; ++seed) {
      const sim::Report seen = sim::simulate(seed, {});
      SPILLWAY_CHECK(!seen.broken, "a law was broken in the benchmark");
      steps += seen.steps;
    }
    rates.push_back(static_cast<double>(steps) / (cpu_seconds() - start));
    gates.push_back(wall_seconds() - wall);
  }
  report.at_least("events_per_s", rates, "events/CPU-s", 200'000);
  report.at_most("gate_s", gates, "s", 60);
}

}  // namespace spillway::bench
