// Spares: how many units are kept at zero, ready to be bought in a moment, and of which groups.
//
// Assumptions
//   - a spare's node is never Ready. The Cluster Autoscaler does nothing at all in a cluster with
//     more nodes that are not Ready than it is told to bear: with the others, spares stay below
//     that.
// Algorithm
//   The best groups first, so many of each, as far as there is room; what is kept elsewhere, or
//   when nothing was bought for long, is given back.
// Ties
//   None: groups come in the policy's order.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "rank/policy.h"

namespace spillway::rank {

struct SpareSight {
  std::map<OfferId, int32_t> kept;  // there, or asked for
  int32_t others_unready = 0;       // nodes that are not Ready, and no spares of ours
  Duration unused;                  // since something was bought
};

struct SpareChange {
  OfferId group;
  int32_t delta = 0;  // below zero: given back
  bool operator==(const SpareChange&) const = default;
};

// `best` are groups that may be bought from, the best first.
std::vector<SpareChange> plan_spares(const Spares& policy, std::span<const OfferId> best,
                                     const SpareSight& sight);

}  // namespace spillway::rank
