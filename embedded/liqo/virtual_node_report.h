// What a virtual kubelet says of its node.
#pragma once

#include "base/time.h"
#include "model/node.h"

namespace spillway::embedded::liqo {

// Where there was none to adopt: with Liqo's taint, and without a provider id.
model::Node new_virtual_kubelets_node(const model::Node& virtual_node);

// Labels, annotations and taints of the VirtualNode; what is granted as its capacity; Ready when
// that is something.
void report_virtual_node(model::Node& node, const model::Node& virtual_node, Instant now);

}  // namespace spillway::embedded::liqo
