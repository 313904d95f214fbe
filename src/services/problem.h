// Refusals on the wire: problem+json (RFC 9457) with the thing, the reason and the next step.
#pragma once

#include <string_view>

#include "base/result.h"
#include "net/message.h"

namespace spillway::wire {
struct SnapshotAnswer;
}

namespace spillway::services {

// Status and name from the one table of codes; Retry-After where time alone may help.
net::Response problem(const Error& error);

// For what HTTP knows and the book does not: 401, 405, 406, 412, 413, 415, 428, 431.
net::Response problem(int status, std::string_view code, const Error& error);

// 410 on a stream of events.
net::Response problem(const Error& error, const wire::SnapshotAnswer& snapshot);

}  // namespace spillway::services
