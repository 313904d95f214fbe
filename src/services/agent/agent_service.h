// The agent as a program: its files, its connection, its signals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "services/agent/guard_port.h"
#include "services/fabric/handshake_options.h"
#include "services/fabric/network_options.h"
#include "services/log.h"
#include "services/member_home.h"

namespace spillway::services {

struct AgentServiceOptions : MemberHome {
  std::string supply;  // the file; empty with an empty policy: it sells nothing
  std::string policy;  // the file; what is free in the live cluster is sold by it
  bool renew_contracts = true;
  Duration pool_lease = minutes(2);
  bool has_fabric = false;                    // contracts are made real, by Liqo in the cluster
  std::vector<std::string> api_servers = {};  // that providers may send Liqo to; empty: any
  std::string node_template =
      {};                       // of virtual kubelets' options, in Liqo's namespace; empty: its own
  Duration warm = minutes(30);  // how long a peering without contracts stays
  Duration doubt = seconds(5);  // how long both signs of a provider's death must last
  Duration skew = seconds(15);  // how much clocks of members may differ
  // Where units can be looked at and ended (services/driver/face.h); empty: nowhere. With files.
  std::string driver_listen = {};
  std::string driver_certificate = {};
  std::string driver_key = {};
  std::string driver_authorities = {};  // whoever has a certificate of these may
  agent::NetworkOptions network = {};
  agent::HandshakeOptions handshake = {};  // its authority is that of the kubeconfig
  agent::GuardPortOptions webhook = {};    // of the guard
};

// Until SIGTERM or SIGINT, or until the home in the cluster is lost to another. SIGHUP reads the
// supply, or the policy, again.
Status run_agent(const AgentServiceOptions& options);

}  // namespace spillway::services
