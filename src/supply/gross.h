// Gross: what one node could sell. Allocatable, less what the owner's pods on it request, less the
// headroom; never below zero, in each resource. Guests are not subtracted: the broker does that.
//
// Machines of one kind differ by a few pages of memory. So that they make one pool of equal nodes,
// memory and storage count in steps of a 64th to a 128th of a node's, rounded down.
#pragma once

#include <optional>

#include "model/resources.h"
#include "supply/gpu.h"
#include "supply/policy.h"
#include "supply/view.h"

namespace spillway::supply {

struct Gross {
  GpuKinds gpus;
  model::Resources size;   // of the node itself, its devices all well: nodes of one pool share it
  model::Resources empty;  // of that, with none of the owner's pods
  model::Resources well;   // of that, what the owner's pods leave
  model::Resources now;    // of that, what is not ill
};

// Of a place that has a row.
Gross gross_of(const View::Place& place, const OfferingPolicy& policy);

// a − b, at least zero in each resource.
model::Resources rest_of(model::Resources a, const model::Resources& b);

// The smaller of both in each resource.
model::Resources common_of(const model::Resources& a, const model::Resources& b);

// The larger of both in each resource.
void raise_to(model::Resources& a, const model::Resources& b);

// Up to what a pool may say; nothing that is true is larger.
void add_capped(model::Resources& sum, const model::Resources& part);

// Whether one unit of `step` fits into `room` of a node with such GPUs. Shapes without GPUs are not
// sold from nodes with GPUs unless the step says so: they would strand what is scarce.
bool has_room(const Step& step, const GpuKinds& gpus, const model::Resources& room);

// The last step that fits, or none.
std::optional<size_t> last_step(const OfferingPolicy& policy, const GpuKinds& gpus,
                                const model::Resources& room);

}  // namespace spillway::supply
