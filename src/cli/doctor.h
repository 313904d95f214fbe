// The checks of `spillway doctor`, one after the other. Each looks at one thing between here and
// the broker, in the order in which they depend on each other: the first cross is the cause.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/asking.h"
#include "services/agent/credentials.h"

namespace spillway::cli {

struct Finding {
  bool good = false;
  std::string what;   // "certificate"
  std::string seen;   // "good until …"
  std::string to_do;  // when it is not good
};

// What the checks know of each other.
struct Examination {
  std::string dir;
  std::string broker;      // given by hand; empty: as joined
  std::string state;       // the agent's folder
  std::string kubeconfig;  // of a cluster whose guard is looked at; empty: of none
  std::string context;
  std::optional<agent::Credentials> member;
  std::unique_ptr<Session> session;
  std::optional<Instant> broker_time;  // by its Date header, as of `asked`
  Instant asked;
  std::vector<model::Role> roles;
};

struct Check {
  const char* what;
  bool needs_identity;
  bool needs_broker;
  Result<std::string> (*look)(Examination&);  // what was seen
  bool needs_cluster = false;
};

// In order. A check whose need is not met is left out: its cause was told.
std::vector<Finding> examine(Examination& examination,
                             const std::function<void(const Finding&)>& tell);

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::optional<Instant> parse_http_date(const std::string& text);

}  // namespace spillway::cli
