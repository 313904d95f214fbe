// Small Kubernetes objects and rows, for tests that bend one thing of them.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/json.h"
#include "model/yaml.h"
#include "supply/judge.h"
#include "supply/node_row.h"
#include "supply/offering.h"
#include "supply/pod_row.h"
#include "supply/policy.h"
#include "supply/view.h"

namespace spillway::supply {

inline constexpr int64_t k_gib = int64_t{1} << 30;
inline constexpr Instant k_monday_noon{1'768'824'000'000};  // 2026-01-19T12:00:00Z
inline const ClusterId k_turin("turin");

// Flow YAML: objects without the quotation marks of JSON.
inline model::Node object(std::string_view yaml) {
  auto node = model::parse_yaml(yaml, "object");
  EXPECT_TRUE(node) << (node ? "" : node.error().message());
  return node ? *node : model::Node{};
}

inline NodeRow plain_node(std::string name = "n1") {
  NodeRow row;
  row.name = std::move(name);
  row.arch = "amd64";
  row.allocatable = {8000, 32 * k_gib, 110, 100 * k_gib, {}, {}};
  row.labels = {{"kubernetes.io/arch", "amd64"}, {"zone", "a"}};
  row.ready = true;
  return row;
}

inline NodeRow gpu_node(std::string name, int64_t gpus, std::string product = "NVIDIA-A100") {
  NodeRow row = plain_node(std::move(name));
  row.labels.insert(row.labels.begin() + 1, {"nvidia.com/gpu.product", std::move(product)});
  row.allocatable.extended = {{"nvidia.com/gpu", gpus}};
  return row;
}

inline Requests requests(int64_t cpu_millis, int64_t gib, model::Counts extended = {}) {
  return {cpu_millis, gib * k_gib, 0, std::move(extended)};
}

inline PodRow bound_pod(std::string key, std::string node, Requests wanted) {
  PodRow row;
  row.key = std::move(key);
  row.state = PodState::bound;
  row.node = std::move(node);
  row.requests = std::move(wanted);
  return row;
}

inline PodRow pending_pod(std::string key, Requests wanted, Placement placement = {}) {
  PodRow row;
  row.key = std::move(key);
  row.state = PodState::pending;
  row.requests = std::move(wanted);
  row.placement = std::make_shared<const Placement>(std::move(placement));
  return row;
}

inline Step step(std::string name, int64_t cores, int64_t gib, int64_t pods = 10) {
  Step made;
  made.name = std::move(name);
  made.shape = {cores * 1000, gib * k_gib, pods, 0, {}, {}};
  return made;
}

// Nothing is kept back; 2 cores and 8Gi, or 4 cores and 16Gi.
inline OfferingPolicy plain_policy() {
  OfferingPolicy policy;
  policy.ladder = {step("small", 2, 8), step("medium", 4, 16)};
  policy.price.unit_hour = 50'000;
  policy.visibility.everyone = true;
  return policy;
}

// Known in full.
inline View known_view(std::vector<NodeRow> nodes = {}, std::vector<PodRow> pods = {}) {
  View view;
  view.replace_nodes(std::move(nodes));
  view.replace_pods(std::move(pods));
  return view;
}

// What comes out is always something that the broker would take.
inline Offering offering_of(const View& view, const OfferingPolicy& policy,
                            Instant now = k_monday_noon) {
  EXPECT_TRUE(validate(policy)) << validate(policy).error().message();
  Offering offering = offer(view, policy, k_turin, now);
  const Status valid = validate(offering.supply);
  EXPECT_TRUE(valid) << valid.error().message();
  return offering;
}

// What the pool of such a node is called.
inline std::string pool_of(const NodeRow& row, const OfferingPolicy& policy = plain_policy()) {
  View::Place place;
  place.row = row;
  return pool_id(k_turin, key_of(row, gross_of(place, policy), policy)).text;
}

}  // namespace spillway::supply
