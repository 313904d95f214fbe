// Scaling up, as far as it is thinking: which groups could help pods that fit nowhere, and with how
// many nodes.
//
// Assumptions: every pod given fits on no node that is there or on its way.
// Algorithm: pods that are alike are one lot. A group's option is what first-fit packing makes of
// the lots that fit its empty node, the largest first (share of the node's cores plus share of its
// memory), within the group's room and max-nodes-per-scaleup. Within a lot a pod that does not fit
// the newest node opens another; older ones are tried at the beginning of a lot only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/scaler/expanders.h"
#include "sim/scaler/options.h"

namespace spillway::scaler {

using Lots = std::vector<std::vector<PodView>>;

// Pods of one owner that are alike; at most ten lots an owner, and whoever has no owner is alone.
Lots lots_of(const std::vector<PodView>& pods);

// At most `most` nodes.
Option estimate(const std::string& group, const NodeView& node, const Lots& lots, int32_t most);

}  // namespace spillway::scaler
