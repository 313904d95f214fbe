// Explanation: why each node, each step of the ladder in each pool, and each pending pod of the
// owner's counts as it does. Sentences are for people; reasons are for programs and tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "model/resources.h"

namespace spillway::supply {

enum class NodeReason : uint8_t {
  offered,
  is_virtual,    // another cluster's capacity
  not_for_sale,  // by the policy's selector
  unreadable,    // the node's object makes no sense
  going,         // being deleted
  cordoned,
  not_ready,
  tainted,         // by a taint that the policy does not allow
  too_small,       // even empty it has no room for a step of the ladder
  without_gpus,    // it should have some: a node whose GPUs are ill is no plain one
  unreadable_pod,  // one of the owner's pods on it makes no sense: nobody knows what is free
  full,            // the owner's pods leave no room for a step of the ladder
};
std::string_view to_text(NodeReason reason);

struct NodeVerdict {
  std::string node;
  NodeReason reason = NodeReason::offered;
  PoolId pool;             // empty: it belongs to none
  model::Resources gross;  // what it adds to the pool; nothing unless it is offered
  std::string sentence;
  bool operator==(const NodeVerdict&) const = default;
};

struct StepVerdict {
  PoolId pool;
  std::string step;
  OfferId offer;  // empty: it is none
  std::string sentence;
  bool operator==(const StepVerdict&) const = default;
};

// A pool that offers less than its nodes have, or that has no nodes any more.
struct PoolVerdict {
  PoolId pool;
  std::string sentence;
  bool operator==(const PoolVerdict&) const = default;
};

// An own pod without a node, for which room is kept in `pool`; empty: in none.
struct PendingVerdict {
  std::string pod;
  PoolId pool;
  std::string sentence;
  bool operator==(const PendingVerdict&) const = default;
};
inline constexpr size_t k_most_pending_told = 100;

struct Explanation {
  std::string withheld;  // why nothing is on sale now; empty: it is
  std::vector<NodeVerdict> nodes;
  std::vector<PoolVerdict> pools;
  std::vector<StepVerdict> steps;
  std::vector<PendingVerdict> pending;  // the first of them, by name
  int64_t pending_pods = 0;             // all of them
  bool operator==(const Explanation&) const = default;
};

// For a terminal.
std::string to_text(const Explanation& explanation);

}  // namespace spillway::supply
