// driver.yaml: which clusters a driver has, and who may ask it for what.
//
// In the folder of the driver lie this file, its authority (authority/) and its state (state/).
// Files that it names are looked for from there.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "fabric/offload_policy.h"
#include "services/driver/callers.h"

namespace spillway::driver {

inline constexpr const char* k_config_name = "driver.yaml";
inline constexpr const char* k_authority_name = "authority";
inline constexpr const char* k_state_name = "state";
// Of the driver's own authority; certificates of its callers are spillway://driver/<name>.
inline constexpr const char* k_federation = "driver";

struct ClusterConfig {
  std::string name;
  std::string kubeconfig;
  std::string context = {};                   // empty: its current one
  fabric::OffloadPolicy offload = {};         // what of it may leave
  std::vector<std::string> api_servers = {};  // that its Liqo may be sent to; empty: any
  std::string node_template = {};             // of virtual kubelets' options; empty: Liqo's own
};

struct CallerConfig {
  std::string certificate;  // a name at the driver's authority, or spillway://<federation>/<name>
  bool viewer = false;      // sees everything, and may nothing else by that
  std::vector<std::string> consumers = {};
  std::vector<std::string> providers = {};
};

struct DriverConfig {
  std::string listen = "127.0.0.1:7643";
  std::vector<std::string> names{"localhost", "127.0.0.1"};  // in its certificate: DNS or IP
  std::string operations = {};  // host:port without TLS, for probes and Prometheus; empty: none
  std::string log = "info";
  std::string certificate = {};  // of the port, instead of one by the driver's own authority
  std::string key = {};          // to it
  std::string authorities = {};  // besides the driver's own, of certificates that callers show
  Duration warm = minutes(30);   // how long a peering stays that nobody wants
  Duration drain = minutes(5);   // how long a unit that ends has to become empty
  int64_t caller_rate = 200;     // requests a second of one caller; 0: no limit
  int64_t stranger_rate = 10;    // of one address, before it is known who it is
  std::vector<ClusterConfig> clusters = {};
  std::vector<CallerConfig> callers = {};
};

Status validate(const DriverConfig& config);
Result<DriverConfig> driver_config_from_yaml(std::string_view text, std::string_view source);
// `own`: keys of the driver's own authority, by which alone its own callers are known, whatever
// certificate its port shows.
Callers callers_of(const DriverConfig& config, const std::set<std::string>& own);
// That somebody vouches for each caller. `authority`: where the driver's own is, or would be.
Status check_vouched(const DriverConfig& config, const std::set<std::string>& own,
                     const std::string& authority);
// With comments, for who begins.
std::string first_driver_config(const std::string& listen, const std::vector<std::string>& names);

}  // namespace spillway::driver
