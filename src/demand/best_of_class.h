// Which offers become node groups: the best few of every class.
//
// Assumptions
//   - offers come best first, by whatever order the buyer's market has.
//   - a caller that is shown hundreds of groups grows slow (kubernetes/autoscaler#5371); one that
//     is not shown the only group that a pod fits leaves it pending.
// Algorithm
//   Two offers are of one class when no pod can tell them apart but by money: the same models of
//   GPUs, region, labels (architecture and zone among them), taints and extended resources, and a
//   like size: the same power of two of cores and of memory. Without the size the cheapest would
//   always be the smallest, and no large pod would ever find a node. Of each class the first
//   `most` stay, in their order.
// Ties
//   None: the order that came in decides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demand/ledger.h"

namespace spillway::demand {

// Equal for offers of one class.
std::string class_of(const model::Offer& offer);

std::vector<Ledger::OnSale> best_of_class(std::vector<Ledger::OnSale> offers, int32_t most);

}  // namespace spillway::demand
