// GPUs by model. Kubernetes counts them by resource ("nvidia.com/gpu") and says on the node which
// model they are: NVIDIA's feature discovery in the label nvidia.com/gpu.product, AMD's node
// labeller in amd.com/gpu.product-name (beta.amd.com/… before). So all GPUs of one resource on one
// node are one model, and what pods on that node request of the resource is of that model.
//
// The model is what the policy says for the label's value; else that value in small letters, '-'
// for '_', with the vendor before it ("nvidia-a100-sxm4-40gb", "amd-instinct-mi300x"); without a
// label "nvidia-gpu" or "amd-gpu", which promises no model.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/resources.h"
#include "supply/node_row.h"

namespace spillway::supply {

struct GpuKind {
  std::string resource;
  std::string model;
  auto operator<=>(const GpuKind&) const = default;
};
using GpuKinds = std::vector<GpuKind>;  // sorted

// Of the GPUs that the node has, or by its labels should have: one whose GPUs are not there, since
// their plugin is down, is no node without GPUs.
GpuKinds gpu_kinds(const NodeRow& node, const std::map<std::string, std::string>& models);

// The same with GPUs counted by model. What is of no kind stays an extended resource.
model::Resources by_model(model::Resources resources, const GpuKinds& kinds);

}  // namespace spillway::supply
