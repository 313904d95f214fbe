// NodeImage: what the node of a unit looks like. The Cluster Autoscaler simulates with it, and back
// ends make it: both from here, so that what was promised is what appears.
//
// It is the virtual node that Liqo 1.2.0 makes (pkg/virtualKubelet/liqoNodeProvider): its labels,
// its taint, and what the offer adds. GPUs are counted as Kubernetes counts them, by vendor, with
// the model in a label.
#pragma once

#include <string>

#include "model/labels.h"
#include "model/offer.h"
#include "model/resources.h"
#include "model/unit_labels.h"

namespace spillway::demand {

using model::k_offer_label;
using model::k_provider_label;
inline constexpr const char* k_gpu_label = "spillway.dev/gpu-model";

struct NodeImage {
  std::string name;
  std::string provider_id;
  std::string arch;
  model::Resources resources;  // capacity and allocatable; GPUs among the extended
  model::Labels labels;
  std::vector<model::Taint> taints;
  bool operator==(const NodeImage&) const = default;
};

// A unit's shape as its node and pods count it: GPUs by vendor, among the extended.
model::Resources as_node_has(const model::Resources& shape);

NodeImage node_image(const model::Offer& offer, std::string name, std::string provider_id);

// The offer that a node was made, or would be made, from; empty: it says none.
OfferId offer_of(const model::Labels& labels);

}  // namespace spillway::demand
