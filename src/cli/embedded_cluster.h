// One embedded cluster as a process: `spillway cluster run`.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace spillway::cli {

struct EmbeddedWish {
  std::string name;
  int32_t nodes = 2;
  std::string cpu = "4";
  std::string memory = "16Gi";
  int32_t port = 0;        // 0: any that is free
  std::string kubeconfig;  // written as soon as it can be used
};

// Until SIGTERM or SIGINT.
Status run_embedded(const EmbeddedWish& wish);

}  // namespace spillway::cli
