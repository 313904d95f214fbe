// PodRow: what supply needs to know of a pod, taken from its Kubernetes object.
//
// A pod that cannot be read must not make more be offered. So what is no guest for sure is the
// owner's; what has not ended for sure takes its place; and an own pod whose requests cannot be
// read is a row with a `problem`: its node is not offered, or, when it is not on a known node,
// nothing new is sold at all until it is gone (supply/offering.h). Only an object without a name is
// no row.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "model/node.h"
#include "supply/guest_rule.h"
#include "supply/placement.h"
#include "supply/requests.h"

namespace spillway::supply {

enum class PodState : uint8_t {
  bound,    // to a node, until it is gone from there: one that is being deleted still takes room
  pending,  // waits for a node
  gated,    // waits for whoever gated it, and wants no node yet
  over,     // ended, or deleted before it had a node: takes nothing
};

struct PodRow {
  std::string key;  // <namespace>/<name>
  PodState state = PodState::over;
  bool guest = false;
  std::string node;  // of a bound one; empty: it cannot be read
  // Of an own one that is not over.
  Requests requests;
  std::shared_ptr<const Placement> placement;  // of a pending or gated one
  std::string problem;                         // empty: read in full
};

Result<PodRow> pod_row(const model::Node& document, const GuestRule& guests);

// <namespace>/<name> of an object, for one that vanished.
Result<std::string> pod_key(const model::Node& document);

// By the rules of the kube-scheduler (k8s.io/component-helpers, resource.PodRequests): the larger
// of the sum of containers and of each init container at its turn, with the sidecars that are up by
// then; the pod's own level where it says more; overhead added. A container that is being resized
// counts with the largest of what it wants, was granted and has.
Result<Requests> pod_requests(const model::Node& document);

}  // namespace spillway::supply
