// OfferingPolicy: what the owner of a cluster is willing to sell of it, and how. A YAML file, read
// again when it changes; examples/agent-policy.yaml shows one, docs/supply.md explains it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/energy.h"
#include "model/intent.h"
#include "model/labels.h"
#include "model/offer.h"
#include "model/place.h"
#include "model/price.h"
#include "model/resources.h"
#include "model/visibility.h"
#include "supply/guest_rule.h"
#include "supply/hours.h"

namespace spillway::supply {

inline constexpr int64_t k_whole = 1000;  // permille: of shares

// Kept free on every node: so much, and so large a part of what is allocatable. The part is of cpu,
// memory, pods and storage; of GPUs and other counted things only an amount can be kept.
struct Headroom {
  model::Resources amount;
  int32_t share_permille = 0;
  bool operator==(const Headroom&) const = default;
};

// Of what each pool could sell, at most so large a part, and at most so much. What `most` does not
// name has no bound.
struct Cap {
  std::optional<int64_t> cpu_millis;
  std::optional<int64_t> memory_bytes;
  std::optional<int64_t> pods;
  std::optional<int64_t> storage_bytes;
  model::Counts gpus;
  model::Counts extended;
  bool operator==(const Cap&) const = default;
};
struct PoolQuota {
  int32_t share_permille = 1000;
  Cap most;
  bool operator==(const PoolQuota&) const = default;
};

// A shape on sale. Steps are listed from the smallest to the largest: the last one that an empty
// node has room for tells which pool the node belongs to.
struct Step {
  std::string name;
  model::Resources shape;
  std::optional<model::Price> price;            // none: the policy's
  std::optional<model::Visibility> visibility;  // none: the policy's
  bool gpu_nodes = false;  // without GPUs in its shape, sold from nodes with GPUs too
  bool operator==(const Step&) const = default;
};

// A taint that does not keep a node from being sold.
struct TaintRule {
  std::string key;
  std::optional<std::string> value;          // none: any
  std::optional<model::TaintEffect> effect;  // none: any
  bool pass = true;  // offers have it: buyers' work must tolerate it, as on the node itself
  bool operator==(const TaintRule&) const = default;
};

struct PassedLabels {
  std::vector<std::string> pass;  // keys: nodes that differ in one are in different pools
  model::Labels add;              // on every offer
  bool operator==(const PassedLabels&) const = default;
};

struct OfferingPolicy {
  std::vector<model::LabelConstraint> nodes;  // which are for sale: all of these; none: every one
  Headroom headroom;
  PoolQuota quota;
  std::vector<Step> ladder;
  model::Price price;
  Hours hours;
  std::vector<TaintRule> taints;
  PassedLabels labels;
  std::map<std::string, std::string> gpu_models;  // what a node's label says → what is sold as
  GuestRule guests;
  model::Place place;
  model::Network network;
  std::optional<model::Energy> energy;
  model::Visibility visibility;
  model::Terms terms;
  bool operator==(const OfferingPolicy&) const = default;
};

Status validate(const OfferingPolicy& policy);

Result<OfferingPolicy> policy_from_yaml(std::string_view text, std::string_view source = "policy");
Result<OfferingPolicy> policy_from_json(std::string_view text, std::string_view source = "policy");
std::string to_json(const OfferingPolicy& policy);

// True when rows of pods made under one policy do not do for the other: list them again.
inline bool needs_new_rows(const OfferingPolicy& before, const OfferingPolicy& after) {
  return !(before.guests == after.guests);
}

}  // namespace spillway::supply
