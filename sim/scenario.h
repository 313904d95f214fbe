// Scenario: who takes part, for how long, and what goes wrong. A scenario and a seed are the whole
// input of a simulation. People write them as short YAML files (sim/scenarios/).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace spillway::sim {

// Means between two faults of a kind; zero: none of it.
struct FaultPlan {
  int64_t drop_permille = 0;  // of messages
  int64_t double_permille = 0;
  int64_t late_permille = 0;  // take 1 to 10 s
  Duration max_delay = milliseconds(20);
  Duration broker_crash;
  Duration store_crash;  // with loss of what was not synced, and torn writes
  Duration party_crash;
  Duration partition;
  Duration isolation;           // of a party from all brokers, for as long as a lease and its grace
  Duration outage;              // of the store, as long
  int64_t vanish_permille = 0;  // chance that a buyer or provider goes for ever
  Duration clock_step;          // of the store
  Duration slow_disk;
  Duration max_skew;       // of brokers' and parties' clocks
  Duration cluster_fault;  // of API servers

  bool operator==(const FaultPlan&) const = default;
};

struct Scenario {
  int64_t brokers = 2;
  int64_t providers = 3;
  int64_t buyers = 5;
  // Providers more, who sell from a live cluster; absent: one, in every third seed or so.
  std::optional<int64_t> clusters = {};
  // Buyers more, for whom a Cluster Autoscaler buys; absent: one, in every third seed or so.
  std::optional<int64_t> autoscalers = {};
  // Pairs of members more, whose contracts become nodes; absent: one, in every fifth seed or so.
  std::optional<int64_t> fabrics = {};
  // Of a thousand answers on what was signed, so many are lies; absent: none, or in every fourth
  // seed or so, some.
  std::optional<int64_t> lies = {};
  Duration length = hours(1);       // under faults
  Duration settle = minutes(20);    // without them, until everything must be quiet
  std::optional<FaultPlan> faults;  // absent: every seed draws a mixture of its own

  bool operator==(const Scenario&) const = default;
};

Status validate(const Scenario& scenario);
Result<Scenario> scenario_from_yaml(std::string_view text, std::string_view source = "scenario");

}  // namespace spillway::sim
