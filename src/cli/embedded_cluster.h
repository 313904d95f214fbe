// Embedded clusters, each a process of this program.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/cluster_wish.h"

namespace spillway::cli {

// Is one, until SIGTERM or SIGINT.
Status run_embedded(const ClusterWish& wish);

// Starts one in the background and says how to use it. One that does not come up leaves nothing
// behind but the error, which has its last words.
Status up_embedded(ClusterWish wish);
Status down_embedded(const std::string& name);

}  // namespace spillway::cli
