// Setting up a broker's folder: authority, market, the first operator, settings. Each step finds
// what an earlier run has left and goes on from there; the settings come last, and with them it is
// complete.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace spillway::cli {

struct BrokerSetup {
  std::string data;
  std::string federation;
  std::vector<std::string> names;  // of the broker, DNS or IP; the first is what members call
  std::string listen = "127.0.0.1:7443";
  std::string operator_name = "operator";
};

struct BrokerSetupDone {
  std::string url;
  std::string operator_dir;
};

bool is_set_up(const std::string& data);  // completely
Result<BrokerSetupDone> set_up_broker(const BrokerSetup& setup);

}  // namespace spillway::cli
