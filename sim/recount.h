// Recount: what is free in a cluster by its own objects, counted without supply/: for each node
// that strangers may use, allocatable less what the owner's pods on it request less headroom.
#pragma once

#include "embedded/cluster.h"
#include "model/resources.h"
#include "supply/policy.h"

namespace spillway::sim {

// Of cpu, memory and pods: all nodes together. The policy has a ladder, headroom in these, and
// nothing else that would bound it.
model::Resources recount(embedded::Cluster& cluster, const supply::OfferingPolicy& policy);

}  // namespace spillway::sim
