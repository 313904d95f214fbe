// Following the events of a broker, for as long as somebody reads them.
#pragma once

#include <cstdint>

#include "cli/asking.h"

namespace spillway::cli {

// Prints a line for each. A stream that breaks is opened again where it ended. Ends after `limit`
// events (0: never), or with the error of a broker that cannot be reached or will not have us.
// after < 0: from now on.
Status follow_events(Session& session, Form form, int64_t after, int64_t limit);

}  // namespace spillway::cli
