// Law 8, Replayed: same seed, same trace.
#include "sim/simulation.h"

#include <set>

#include <gtest/gtest.h>

namespace spillway::sim {
namespace {

Scenario short_scenario() {
  Scenario scenario;
  scenario.length = minutes(15);
  return scenario;
}

TEST(Simulation, TheSameSeedHasTheSameTrace) {
  std::set<Fingerprint> traces;
  for (const uint64_t seed : {uint64_t{7}, uint64_t{1'000'003}, uint64_t{42}}) {
    const Report first = simulate(seed, short_scenario());
    const Report second = simulate(seed, short_scenario());
    EXPECT_FALSE(first.broken) << *first.broken;
    EXPECT_EQ(first.trace, second.trace) << seed;
    EXPECT_EQ(first.steps, second.steps) << seed;
    EXPECT_EQ(first.checks, second.checks) << seed;
    traces.insert(first.trace);
  }
  EXPECT_EQ(traces.size(), 3u) << "and other seeds have others";
}

TEST(Simulation, SomethingHappensInIt) {
  size_t outages = 0;
  for (const uint64_t seed : {7u, 8u, 9u, 10u}) {  // one of them has some, at least
    const Report report = simulate(seed, short_scenario());
    EXPECT_GT(report.contracts, 50u);
    EXPECT_GT(report.checks, 10'000u);
    outages += report.outages;
  }
  EXPECT_GT(outages, 0u);
}

TEST(Simulation, WithoutFaultsNothingIsLostAndNoOutageIsRecorded) {
  Scenario scenario = short_scenario();
  scenario.faults = FaultPlan{};
  const Report report = simulate(7, scenario);
  EXPECT_FALSE(report.broken) << *report.broken;
  EXPECT_EQ(report.outages, 0u);
  EXPECT_EQ(report.lost_commits, 0u);
  EXPECT_GT(report.contracts, 50u);
}

TEST(Simulation, AnyNumberOfBrokersKeepsTheLaws) {
  for (const int64_t brokers : {1, 3, 5}) {
    Scenario scenario = short_scenario();
    scenario.brokers = brokers;
    const Report report = simulate(11, scenario);
    EXPECT_FALSE(report.broken) << brokers << ": " << *report.broken;
  }
}

TEST(Simulation, ClusterAutoscalersBuyAndKeepTheLaws) {
  Scenario scenario = short_scenario();
  scenario.autoscalers = 2;
  // Crashes, and a network that is well: where messages get lost, an answer comes too late to
  // count.
  scenario.faults = FaultPlan{};
  scenario.faults->broker_crash = minutes(5);
  scenario.faults->party_crash = minutes(5);
  scenario.faults->cluster_fault = minutes(3);
  const Report report = simulate(5, scenario);
  EXPECT_FALSE(report.broken) << *report.broken;
  EXPECT_GT(report.increases, 3u);
}

Scenario fabrics() {
  Scenario scenario;
  scenario.length = minutes(15);
  scenario.providers = 1;
  scenario.buyers = 1;
  scenario.clusters = 0;
  scenario.autoscalers = 0;
  scenario.fabrics = 1;
  return scenario;
}

TEST(Simulation, ContractsBecomeNodesAndKeepTheLaws) {
  Scenario scenario = fabrics();
  scenario.faults = FaultPlan{};
  const Report report = simulate(3, scenario);
  EXPECT_FALSE(report.broken) << *report.broken;
  EXPECT_GT(report.nodes, 3u);
  EXPECT_GT(report.begun, 2u);
}

TEST(Simulation, WhatIsEditedByHandInAFabricIsPutRight) {
  Scenario scenario = fabrics();
  scenario.faults = FaultPlan{};
  scenario.faults->cluster_fault = seconds(10);
  uint64_t mended = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const Report report = simulate(seed, scenario);
    EXPECT_FALSE(report.broken) << *report.broken;
    mended += report.mended;
  }
  EXPECT_GT(mended, 4u);
}

// Certificates have lengths and numbers that no seed decides: nothing may follow from them.
TEST(Simulation, TheSameSeedHasTheSameTraceWithFabrics) {
  const Report first = simulate(12, fabrics());
  const Report second = simulate(12, fabrics());
  EXPECT_FALSE(first.broken) << *first.broken;
  EXPECT_EQ(first.trace, second.trace);
  EXPECT_EQ(first.steps, second.steps);
}

}  // namespace
}  // namespace spillway::sim
