// Kubernetes' nodes and pods in protocol buffers: of a node what the Cluster Autoscaler simulates
// with, of a pod what it asks for. Field numbers: k8s.io/api/core/v1/generated.proto.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "demand/node_image.h"
#include "model/labels.h"
#include "model/resources.h"

namespace spillway::cluster_autoscaler {

// A core/v1 Node, Ready and empty.
std::string marshal_node(const demand::NodeImage& image);

struct PodAsk {
  std::string space;
  std::string name;
  std::string uid;
  model::Labels labels;
  model::Resources requests;  // GPUs among the extended
  bool operator==(const PodAsk&) const = default;
};

// A core/v1 Pod with one container that requests as much.
std::string marshal_pod(const PodAsk& pod);
// A core/v1 Pod. What it requests counts as the scheduler counts it.
Result<PodAsk> unmarshal_pod(std::string_view bytes);

}  // namespace spillway::cluster_autoscaler
