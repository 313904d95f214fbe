// What a kubelet says of its node: the node's status, and the Lease by which it is known to live.
#pragma once

#include <string>

#include "base/time.h"
#include "embedded/object.h"
#include "model/node.h"

namespace spillway::embedded {

inline constexpr std::string_view k_lease_space = "kube-node-lease";

// Ready, with no pressure; what the node has is left as it was, or four cores and 16 GiB.
void report_node(model::Node& node, const std::string& address, Instant now);

model::Node new_node_lease(const Object& node);
void renew_node_lease(model::Node& lease, Instant now);

}  // namespace spillway::embedded
