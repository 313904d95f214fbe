// The network between two clusters, as one of them makes its part: experimental, and only where
// both want it. Both tell each other their ranges; one serves a gateway, the other connects to it;
// each has the other's key. Liqo runs the gateways (fabric/liqo/network_objects.h).
//
// Once for a peer, whichever of the two buys. The provider serves; if both sell, the one whose id
// is less; if that one cannot be reached, the other. Both know the same and so find the same: when
// it changes, the gateways are made anew.
//
// Level-triggered as the other machines are. What somebody connected by hand (without our label) is
// used and left alone. Nothing here waits for the other side when it ends.
#pragma once

#include <optional>
#include <string>

#include "fabric/deed.h"
#include "fabric/liqo/network_objects.h"
#include "fabric/talk.h"

namespace spillway::fabric {

struct NetworkWish {
  std::string self;  // Liqo ids
  std::string peer;
  // Wanted: there are contracts. Kept: there were, and the peering stays; what is there stays, too.
  // Neither: ours goes.
  bool is_wanted = false;
  bool is_kept = false;
  bool is_buying = false;                   // from that peer
  bool is_selling = false;                  // to it
  std::optional<ContractId> contract = {};  // to talk on; none: nothing can be said
  // Of this cluster. Without ranges, which Liqo has not settled yet, nothing can be told.
  liqo::Ranges ranges = {};
  bool can_serve = true;
  liqo::Serving serving = {};
  std::string proxy = {};   // address of the API server's; empty: there is none
  bool is_in_band = false;  // buying: the provider's API server is reached through the network
  std::optional<NetworkTalk> heard = {};  // the last, and checked
  bool owes_answer = false;
};

// In the peer's tenant namespace.
struct NetworkSight {
  bool has_space = false;
  std::optional<liqo::Configuration> configuration = {};
  std::optional<liqo::GatewayServer> server = {};
  std::optional<liqo::GatewayClient> client = {};
  std::optional<liqo::PublicKey> peer_key = {};
  std::string own_key = {};  // bytes: of the gateway here, as its Secret has it
  std::optional<liqo::Connection> connection = {};
};
// Whether anything of ours is left.
bool is_clear(const NetworkSight& sight);

enum class NetworkStep {
  none,        // nothing is wanted
  asked,       // the other side has not told its ranges
  configured,  // they are written down, and Liqo looks for room
  opened,      // there is a gateway here
  keyed,       // and it knows the other's key
  connected,   // the gateways have found each other
};
std::string_view to_text(NetworkStep step);

struct NetworkPlan {
  Plan plan;
  NetworkStep step = NetworkStep::none;
};
NetworkPlan plan_network(const NetworkWish& wish, const NetworkSight& sight, Instant now);

// By what URL this side reaches the peer's API server through the network; empty: not yet.
std::string in_band_url(const NetworkWish& wish, const NetworkSight& sight);

// Whether it can be a network's: bounded, well-formed ranges that do not overlap each other, where
// somebody can be; a gateway and a key that are such.
Status check_network(const NetworkTalk& talk);

}  // namespace spillway::fabric
