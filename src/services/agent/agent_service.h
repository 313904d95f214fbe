// The agent as a program: its files, its connection, its signals.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "services/log.h"
#include "services/member_home.h"

namespace spillway::services {

struct AgentServiceOptions : MemberHome {
  std::string supply;  // the file; empty with an empty policy: it sells nothing
  std::string policy;  // the file; what is free in the live cluster is sold by it
  bool renew_contracts = true;
  Duration pool_lease = minutes(2);
};

// Until SIGTERM or SIGINT, or until the home in the cluster is lost to another. SIGHUP reads the
// supply, or the policy, again.
Status run_agent(const AgentServiceOptions& options);

}  // namespace spillway::services
