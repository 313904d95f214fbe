// One simulation: a federation for a while under faults, then time to settle without them. All
// laws are checked after every step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/digest.h"
#include "base/time.h"
#include "sim/scenario.h"

namespace spillway::sim {

struct Report {
  uint64_t seed = 0;
  uint64_t steps = 0;
  uint64_t checks = 0;
  uint64_t contracts = 0;
  uint64_t increases = 0;  // that Cluster Autoscalers were granted
  uint64_t nodes = 0;      // that contracts became
  uint64_t begun = 0;      // pods with identity that were begun, again and again
  uint64_t excused = 0;    // of them, while another ran at a provider that nobody could reach
  uint64_t mended = 0;     // edits by hand that were put right
  uint64_t outages = 0;
  uint64_t lies = 0;          // that a broker told
  uint64_t agreements = 0;    // that members keep
  uint64_t lost_commits = 0;  // not acknowledged, gone with a crash
  uint64_t kept_commits = 0;  // not acknowledged, there after a crash all the same
  Fingerprint trace;
  std::optional<std::string> broken;  // the law, and how
  Instant broken_at;
};

Report simulate(uint64_t seed, const Scenario& scenario);

}  // namespace spillway::sim
