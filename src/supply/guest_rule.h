// GuestRule: how a guest's pod is told from one of the owner's.
//
// Guests' pods run on capacity that was sold: the broker counts it, supply does not. By default
// they are those that Liqo 1.2.0 makes at the provider for a consumer's pods: its ShadowPod
// controller gives each the label below, over whatever the consumer set
// (pkg/liqo-controller-manager/offloading/shadowpod-controller).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/labels.h"

namespace spillway::supply {

inline model::Labels liqo_guest_labels() { return {{"liqo.io/managed-by", "shadowpod"}}; }

struct GuestRule {
  model::Labels labels = liqo_guest_labels();  // all of them; empty: no pod
  std::vector<std::string> namespaces;         // everything in them is a guest's
  bool operator==(const GuestRule&) const = default;
};

}  // namespace spillway::supply
