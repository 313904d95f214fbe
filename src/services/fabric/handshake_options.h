// The paper's way of peering, by option (fabric/account.h): as a buyer, and as a provider.
#pragma once

#include <string>

#include "base/time.h"

namespace spillway::agent {

struct HandshakeOptions {
  // TokenRequest's own bounds of a token's life; the longer one is ours.
  static constexpr Duration k_shortest_life = minutes(10);
  static constexpr Duration k_longest_life = hours(24);

  bool asks = false;        // of providers that hand them out, for a kubeconfig
  std::string server = {};  // by which buyers reach our API server; empty: none gets a kubeconfig
  std::string authority = {};  // of that server, PEM
  Duration life = k_shortest_life;
};

}  // namespace spillway::agent
