// Where a broker's settings come from: a flag, else an environment variable, else the file, else
// the default.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "services/broker/config.h"

namespace spillway::cli {

using Environment = std::function<const char*(const char*)>;

struct BrokerFlags {
  std::string data;
  std::string config;             // empty: broker.yaml in the data folder, if it is there
  std::vector<std::string> sets;  // name=value
};

std::string data_folder(const std::string& given, const Environment& environment);
Result<services::BrokerConfig> read_settings(const BrokerFlags& flags,
                                             const Environment& environment);

// Refuses a SPILLWAY_BROKER_… that is none of ours: who misspells a setting means something by it.
// `variables` is as environ has them.
Status check_variables(const char* const* variables);

inline constexpr const char* k_config_file = "broker.yaml";

}  // namespace spillway::cli
