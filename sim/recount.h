// Recount: what is free in a cluster by its own objects, counted without supply/: for each node
// that strangers may use, allocatable less what the owner's pods on it request less headroom.
#pragma once

#include "embedded/cluster.h"
#include "model/resources.h"
#include "supply/policy.h"

namespace spillway::sim {

// What is kept of `allocatable`: the amount, and a share of it, rounded up.
inline int64_t kept(int64_t allocatable, int64_t headroom, int64_t permille) {
  return headroom + (allocatable * permille + 999) / 1000;
}

// Of cpu, memory and pods: all nodes together. The policy has a ladder, headroom in these, and
// nothing else that would bound it.
model::Resources recount(embedded::Cluster& cluster, const supply::OfferingPolicy& policy);

}  // namespace spillway::sim
