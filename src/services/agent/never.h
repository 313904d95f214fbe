// "Not before anything else wakes me": when a part that has nothing to do by time is due.
#pragma once

#include "base/time.h"

namespace spillway::agent {

inline constexpr Instant k_never = k_last_instant;

}  // namespace spillway::agent
