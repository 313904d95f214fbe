// Whether a node is offered, and with which others it makes a pool.
#pragma once

#include <cstddef>
#include <optional>

#include "supply/explanation.h"
#include "supply/gross.h"
#include "supply/naming.h"
#include "supply/node_row.h"
#include "supply/policy.h"
#include "supply/view.h"

namespace spillway::supply {

// Why the node is in no pool at all; nothing when it is in one.
std::optional<NodeVerdict> rule_out(const NodeRow& row, const Gross& gross,
                                    const OfferingPolicy& policy);

// Of one that is not ruled out: offered, or out for now.
NodeVerdict judge(const View::Place& place, const Gross& gross, const OfferingPolicy& policy);

// `step`: the last that the empty node has room for.
PoolKey key_of(const NodeRow& row, const GpuKinds& gpus, size_t step, const OfferingPolicy& policy);

}  // namespace spillway::supply
