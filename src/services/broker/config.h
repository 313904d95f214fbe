// How a broker is set up. One order of precedence, the same for every setting: a flag, else an
// environment variable, else the file, else the default.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "market/rules.h"
#include "net/server.h"
#include "services/broker/api.h"

namespace spillway::services {

struct BrokerConfig {
  std::string listen = "127.0.0.1:7443";
  std::vector<std::string> names{"localhost", "127.0.0.1"};  // in its certificate: DNS or IP
  std::string operations;  // host:port without TLS, for probes and Prometheus; empty: none
  std::string log = "info";
  Duration keep_events = hours(30 * 24);
  Duration drain = seconds(10);
  // So long before its end a lease that was not renewed is said to end: parts of it, or times.
  std::vector<std::string> ending_notices{"25%", "10%", "2%"};

  int64_t member_rate = 1000;  // requests a second of one identity; 0: no limit
  int64_t member_burst = 2000;
  int64_t stranger_rate = 10;  // of one address, before it is known who it is
  int64_t stranger_burst = 40;
  int64_t connections = 12'000;
  int64_t connections_per_address = 12'000;
  int64_t body_bytes = 2 << 20;  // a pool with 10,000 contracts on it
  int64_t pools = 256;           // of one provider
  int64_t offers = 4096;         // of one provider
  int64_t streams = 16;          // of one identity

  std::string data;  // the folder; not in the file, for it is where the file is
};

Result<BrokerConfig> config_from_yaml(const std::string& text, const std::string& source);
std::string config_to_yaml(const BrokerConfig& config);  // of what differs from the default
Status validate(const BrokerConfig& config);
Result<std::vector<market::EndingDistance>> ending_distances(const BrokerConfig& config);

// SPILLWAY_BROKER_LISTEN, …: the field's name in capitals.
inline constexpr std::string_view k_environment_prefix = "SPILLWAY_BROKER_";
std::string environment_name(std::string_view field);
Status apply_environment(BrokerConfig& config, const std::function<const char*(const char*)>& get);
// "listen=0.0.0.0:7443", as from --set.
Status apply_setting(BrokerConfig& config, std::string_view name, std::string_view value);
std::vector<std::string_view> setting_names();

}  // namespace spillway::services
