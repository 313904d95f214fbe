// Requests: what one pod asks of a node, and lists of resources as Kubernetes writes them.
//
// Smaller than model::Resources, for there are many pods: a pod is always one pod, and GPUs are
// still extended resources here ("nvidia.com/gpu"), since which model that is only a node can say.
//
// Amounts never exceed model::k_max_amount. What is asked for beyond it counts as that much, which
// no node has more of; so sums of a few never leave an int64, whatever a pod asks for. Resources
// that are never sold (huge pages, attachable volumes) are left out.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/quantity.h"
#include "base/result.h"
#include "model/node.h"
#include "model/resources.h"

namespace spillway::supply {

struct Requests {
  int64_t cpu_millis = 0;
  int64_t memory_bytes = 0;
  int64_t storage_bytes = 0;
  model::Counts extended;  // by resource name, GPUs among them
  bool operator==(const Requests&) const = default;

  void add(const Requests& other);        // up to k_max_amount
  void raise_to(const Requests& other);   // the larger in each resource
  model::Resources with_one_pod() const;  // as a node counts it
};

// Reads {"cpu": "500m", …} over what `into` has. A negative amount or one that is no quantity
// fails.
Status read_requests(Requests& into, const model::Node& list);

// What a node says that it has: rounded down, `pods` included.
Result<model::Resources> read_allocatable(const model::Node& list);

// The extended resources of such a list, those of which there is none included.
Result<model::Counts> read_devices(const model::Node& list);

}  // namespace spillway::supply
