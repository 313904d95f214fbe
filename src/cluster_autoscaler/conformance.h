// What a well-behaved externalgrpc server does, rule by rule, against any server. The Cluster
// Autoscaler says little of it and acts on all of it: docs/conformance.md has each rule's reason.
//
// It buys and gives back: the group that it is tried on grows by two for a moment.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cluster_autoscaler/cloud_client.h"

namespace spillway::cluster_autoscaler {

enum class Verdict : uint8_t { held, broken, not_tried };

struct RuleFinding {
  std::string_view rule;  // "increase-raises-the-target"
  Verdict verdict = Verdict::held;
  std::string seen;  // why it is broken, or was not tried
};

struct ConformanceOptions {
  std::string group;  // to try on; empty: the first that may grow by two
  Instant now;        // for prices
  // A steady clock, in milliseconds.
  std::function<int64_t()> clock_ms;
  std::function<void(const RuleFinding&)> told = [](const RuleFinding&) {};  // as each is known
};

std::vector<RuleFinding> check_cloud_provider(CloudClient& client,
                                              const ConformanceOptions& options);

// All rules in order, also those that were not come to.
std::vector<std::string_view> rule_names();

}  // namespace spillway::cluster_autoscaler
