// How an agent connects its cluster's network with those of peers (services/fabric/networks.h).
#pragma once

#include "fabric/liqo/network_objects.h"

namespace spillway::agent {

struct NetworkOptions {
  // On: networks are connected. Required: no node is made of what was bought before they are.
  enum class Mode { off, on, required };
  Mode mode = Mode::off;
  bool can_serve = true;    // others reach a gateway of this cluster
  bool is_in_band = false;  // providers' API servers are reached through the network
  fabric::liqo::Serving serving = {};
};

}  // namespace spillway::agent
