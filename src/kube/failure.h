// An API server's refusal as our error. What its codes mean here:
//   contended  409 Conflict: the object was changed since it was read; read it again
//   conflict   409 AlreadyExists, and what the state of the object forbids
//   gone       410: the version that was asked for is no longer kept
//   taken      429 for an eviction that a disruption budget does not allow now
//   unavailable 429, 5xx, and answers that are none: not now
//   denied     401, 403
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "model/node.h"
#include "net/message.h"

namespace spillway::kube {

// `thing` is what was asked for: "pods default/web".
Error failure_of(const net::Response& response, const std::string& thing);
// Of a Status document that came as an event of a watch.
Error failure_in(const model::Node& status, const std::string& thing);

// What Retry-After says, in seconds, held to a minute.
std::optional<Duration> asked_to_wait(const net::Response& response);

}  // namespace spillway::kube
