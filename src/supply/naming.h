// What pools and offers are called. An id depends on what it stands for and on nothing else: not on
// which nodes are there, nor on what other pools there are. So it stays while nodes come and go,
// and whoever restarts finds the same.
//
// A pool is called by architecture, cores and memory of one node, and by its GPUs, labels and
// taints if it has any, with a fingerprint of all behind ("amd64-8cpu-32gi-nvidia-a100-1f0c9d2e").
// Shape, labels and taints are immutable under an offer's id, and its owner may edit all three: so
// an offer is called by its pool, its step and a fingerprint of all of them
// ("amd64-8cpu-32gi-small-5c1f07aa").
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/labels.h"
#include "model/offer.h"
#include "supply/gpu.h"

namespace spillway::supply {

// What the nodes of a pool have in common.
struct PoolKey {
  std::string arch;
  model::Resources size;  // of one node
  GpuKinds gpus;
  model::Labels labels;              // those that the policy passes on
  std::vector<model::Taint> taints;  // those too; sorted, one for each key and effect
  bool operator==(const PoolKey&) const = default;
};
bool operator<(const PoolKey& a, const PoolKey& b);

// A DNS label, at most 24, that does not look like one of ours with a fingerprint.
Status check_step_name(std::string_view name);

PoolId pool_id(const ClusterId& cluster, const PoolKey& key);
// Of an offer that has its pool, shape, labels and taints.
OfferId offer_id(const model::Offer& offer, std::string_view step);

}  // namespace spillway::supply
