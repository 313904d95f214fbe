// What a cluster has to offer now: its nodes and pods, by its owner's policy.
//
// Assumptions
//   - the policy passed validate(); the rows may be anything.
// Algorithm
//   Every node is judged (supply/judge.h) and sorted into a pool of its like (supply/naming.h). A
//   pool's capacity is the sum of its nodes' gross (supply/gross.h), less room for the owner's
//   pending pods (supply/pending.h), at most the policy's quota of it, less what is owed to guests
//   of nodes that have left their pool (supply/sold.h). Its `node` is the gross of one of its
//   nodes: the one with room for the most steps, then by cpu, memory, pods and storage.
//   Every step that this node has room for is an offer. Outside the policy's hours pools stay, so
//   that contracts do, and there are no offers; inside, each offer says until when, so that it ends
//   on time even when nobody is there to withdraw it.
// Ties
//   Nodes and pods by name, pools by id.
// Invariants
//   In every resource a pool's capacity is at most the sum over its nodes of allocatable − own
//   requests − headroom; the nodes of a pool are of one size; no offer is larger than one of these
//   nodes' gross; all pools together never come to more than they have or have sold, a node that
//   changes its pool included; supply::validate() takes what comes out. Guests' pods may lie so
//   that a unit which is free by the sum fits on no single node: that is not promised away here.
#pragma once

#include <optional>
#include <span>

#include "base/ids.h"
#include "base/time.h"
#include "supply/explanation.h"
#include "supply/policy.h"
#include "supply/sold.h"
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

// `sold`: each pool once that contracts of this cluster live on.
Offering offer(const View& view, const OfferingPolicy& policy, const ClusterId& cluster,
               Instant now, std::span<const Sold> sold = {});

}  // namespace spillway::supply
