// Embedded clusters, each a process of this program.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/cluster_wish.h"

namespace spillway::cli {

// Is one, until SIGTERM or SIGINT.
Status run_embedded(const ClusterWish& wish);

// Starts one in the background and says how to use it.
Status up_embedded(ClusterWish wish);
Status down_embedded(const std::string& name);

}  // namespace spillway::cli
