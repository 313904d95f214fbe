// See: what the machines look at of objects that Liqo does not define, or of which they want
// little. Anybody may have written these: what is missing, or of another kind, is as if it were not
// there, and no object is so odd that nothing of it is seen.
#pragma once

#include <optional>
#include <string>

#include "fabric/buyer.h"
#include "fabric/spaces.h"
#include "model/node.h"

namespace spillway::fabric {

// A namespace with the label of a peer.
struct PeerSpace {
  enum class Use {
    tenants,   // the peer's own
    guests,    // where guests of the peer live
    edited,    // a tenant's by its name: somebody has taken away or changed its labels
    somebody,  // has a tenant's label, and is no peer's
  };
  Use use = Use::somebody;
  std::string peer;           // by its label
  bool is_ending = false;     // it takes nothing new
  std::string request = {};   // k_request_annotation
  std::string provider = {};  // liqo::k_provider_annotation
};
PeerSpace see_peer_space(const model::Node& space);

// Any of the cluster's.
SpaceSight see_space(const model::Node& space);

NodeSight see_node(const model::Node& node);

// None: every node has one of it, or it has ended.
std::optional<PodSight> see_pod(const model::Node& pod);

// None: the scheduler has not looked at it, or it belongs to one node.
std::optional<WaitingPod> see_waiting_pod(const model::Node& pod);

// A ShadowPod. Whose it is is Liqo's word; of the rest only, whether it must not run twice.
struct GuestSight {
  std::string creator;  // liqo::unit_user()
  bool has_identity = false;
  bool operator==(const GuestSight&) const = default;
};
GuestSight see_guest(const model::Node& shadow_pod);

}  // namespace spillway::fabric
