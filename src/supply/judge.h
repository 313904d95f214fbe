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

// Kubernetes leaves pods on a node that is not Ready for five minutes before it moves them. So long
// nobody is given notice for one that is ill either: kubelets and device plugins start again, and
// links at the edge come and go.
inline constexpr Duration k_rest = minutes(5);
// Long ago: it does not. Nor does one that fell ill in the future: the clock was set back since,
// and nobody knows for how long it has been so.
Instant rests_until(const View::Place& place, Instant now);

// Of the node and of what the policy passes on. Of the ladder it depends in one thing only, which
// extended resources are sold: a new step, another price or more headroom move no node to another
// pool, and neither does a plugin for devices that nobody sells.
PoolKey key_of(const NodeRow& row, const Gross& gross, const OfferingPolicy& policy);

}  // namespace spillway::supply
