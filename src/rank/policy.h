// Policy: what the owner of a cluster that buys wants of an offer. A YAML file, read again when it
// changes; examples/recommender-policy.yaml shows one, docs/recommender.md explains it.
//
// Assumptions
//   - one file for a cluster: a policy for all work, and classes of work that differ from it.
//   - all money is in the policy's one currency; nothing is ever converted.
// Algorithm
//   A workload belongs to the first class that it matches, else to none. The class replaces the
//   sections that it names (rules, providers, tiers, expect) and inherits the others. Caps add up:
//   the cluster's hold for all that is held, a class's besides for what is held for it, so that no
//   class can lift what the cluster has forbidden.
// Ties
//   Classes match in the order of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/money.h"
#include "base/result.h"
#include "base/time.h"
#include "model/intent.h"
#include "model/labels.h"
#include "rank/option.h"

namespace spillway::rank {

// What rules an offer out. Absent or empty: not asked for. Numbers that nobody states or measured
// do not pass a rule about them.
struct Rules {
  std::vector<model::LabelConstraint> labels;  // of the offer
  std::vector<std::string> countries;          // one of
  std::optional<int64_t> max_unit_hour;        // micro-units
  std::optional<int32_t> max_carbon;           // gCO2e per kWh, as it counts (rank/doubt.h)
  std::optional<Duration> max_round_trip;
  std::optional<int64_t> max_failures;  // remembered, in millionths
  std::optional<Duration> max_silence;  // of the provider
  std::optional<Duration> min_lease;
  bool operator==(const Rules&) const = default;
};

struct Providers {
  std::vector<ClusterId> allow;  // none: all
  std::vector<ClusterId> deny;   // whatever is allowed
  bool operator==(const Providers&) const = default;
};

// What things are worth, in micro-units: the terms of one tier. A tier decides only among offers
// between which all tiers before it find no difference; amounts count in whole steps, so that a
// trifle does not keep the next tier from deciding.
struct Tier {
  int64_t step = 0;            // 0: exactly
  int64_t money_permille = 0;  // of what is paid
  int64_t carbon_kg = 0;       // a kilogram of CO2e
  int64_t round_trip_ms = 0;   // a millisecond, for an hour
  int64_t failure = 0;         // one that just happened
  int64_t silence_minute = 0;  // since the provider was last heard of
  bool operator==(const Tier&) const = default;
};
inline constexpr size_t k_max_tiers = 4;

struct PerWindow {
  std::optional<int64_t> hour;
  std::optional<int64_t> day;
  std::optional<int64_t> month;
  bool operator==(const PerWindow&) const = default;
};
struct Caps {
  PerWindow money;      // micro-units
  PerWindow carbon_kg;  // millionths of a kilogram: milligrams
  bool operator==(const Caps&) const = default;
};

inline constexpr Duration k_longest_expectation = hours(365 * 24);

// How long a unit is likely to be kept, and how much it will send.
struct Expectation {
  Duration time = hours(1);
  int64_t egress_bytes = 0;
  bool operator==(const Expectation&) const = default;
};

enum class Profile { cheapest, greenest, closest, safest, balanced };

// What is not there is inherited; of profile and tiers there is at most one.
struct PolicyPart {
  std::optional<Profile> profile;  // tiers by name (rank/profiles.h)
  std::optional<std::vector<Tier>> tiers;
  std::optional<Rules> rules;
  std::optional<Providers> providers;
  std::optional<Expectation> expect;
  Caps caps;
  bool operator==(const PolicyPart&) const = default;
};

struct WorkloadClass {
  std::string name;
  std::vector<std::string> namespaces;         // one of; none: any
  std::vector<model::LabelConstraint> labels;  // of the pods, all of these
  PolicyPart part;
  bool operator==(const WorkloadClass&) const = default;
};

inline constexpr Duration k_default_half_life = hours(6);

// Units that are kept at zero, ready to be bought in a moment, where the back end makes any.
struct Spares {
  int32_t units = 0;         // of each group; 0: none
  int32_t groups = 1;        // the best so many
  Duration idle = hours(1);  // they are given back when nothing was bought for so long
  // Nodes of the cluster that may be not Ready, spares among them: no more than the Cluster
  // Autoscaler's --ok-total-unready-count, or it does nothing at all.
  int32_t unready = 3;
  bool operator==(const Spares&) const = default;
};

struct Policy {
  Currency currency;
  Duration failure_half_life = k_default_half_life;  // half of a failure is forgotten after it
  PolicyPart standard;                               // without tiers: those of `balanced`
  std::vector<WorkloadClass> classes;
  Spares spares;
  bool operator==(const Policy&) const = default;
};

// What counts for one workload, nothing left to inherit.
struct EffectivePolicy {
  std::string workload_class;  // empty: none
  Currency currency;
  Duration failure_half_life = k_default_half_life;
  std::vector<Tier> tiers;
  Rules rules;
  Providers providers;
  Expectation expect;
  Caps cluster_caps;
  Caps class_caps;
  bool operator==(const EffectivePolicy&) const = default;
};

EffectivePolicy effective_policy(const Policy& policy, const Workload& workload);
// Of a class by its name; empty, or one that is no longer there: of work that is of none.
EffectivePolicy policy_of_class(const Policy& policy, std::string_view workload_class);

Status validate(const Policy& policy);

Result<Policy> policy_from_yaml(std::string_view text, std::string_view source = "policy");
Result<Policy> policy_from_json(std::string_view text, std::string_view source = "policy");
std::string to_json(const Policy& policy);
std::string to_yaml(const Policy& policy);  // reads back as the same

}  // namespace spillway::rank
