// Where a port is opened: "127.0.0.1:7443", "[::]:7443".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace spillway::services {

struct HostPort {
  std::string host;
  uint16_t port = 0;
};
Result<HostPort> parse_host_port(std::string_view text, std::string_view what);

}  // namespace spillway::services
