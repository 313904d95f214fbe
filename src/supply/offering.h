// What a cluster has to offer now: its nodes and pods, by its owner's policy.
//
// Assumptions
//   - the policy passed validate(); the rows may be anything.
// Algorithm
//   Every node is judged (supply/judge.h) and sorted into a pool of its like (supply/naming.h). A
//   pool's capacity is the sum of its nodes' gross (supply/gross.h), less room for the owner's
//   pending pods (supply/pending.h), at most the policy's quota of it. Its `node` is the gross of
//   one of its nodes: the one with room for the most steps, then by cpu, memory, pods and storage.
//   Every step that this node has room for is an offer. Outside the policy's hours pools stay, so
//   that contracts do, and there are no offers; inside, each offer says until when, so that it ends
//   on time even when nobody is there to withdraw it.
// Ties
//   Nodes and pods by name, pools by id.
// Invariants
//   In every resource a pool's capacity is at most the sum over its nodes of allocatable − own
//   requests − headroom; no offer is larger than one of these nodes' gross; supply::validate()
//   takes what comes out. Guests' pods may lie so that a unit which is free by the sum fits on no
//   single node: that is not promised away here.
#pragma once

#include <optional>

#include "base/ids.h"
#include "base/time.h"
#include "supply/explanation.h"
#include "supply/policy.h"
#include "supply/supply.h"
#include "supply/view.h"

namespace spillway::supply {

struct Offering {
  // False: the cluster is not known in full yet, and there is nothing below. What is published
  // stays as it is.
  bool known = false;
  Supply supply;
  Explanation explanation;
  std::optional<Instant> changes_at;  // by time alone; none: only when the cluster or policy does
};

Offering offer(const View& view, const OfferingPolicy& policy, const ClusterId& cluster,
               Instant now);

}  // namespace spillway::supply
