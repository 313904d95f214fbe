// Defaults: what the API server fills in when an object is made, as far as clients look at it.
#pragma once

#include "base/time.h"
#include "embedded/kind.h"
#include "model/node.h"

namespace spillway::embedded {

// Also turns write-only fields into what is stored (a secret's stringData).
void set_defaults(const Kind& kind, model::Node& document);
// The status with which something begins, instead of what the caller sent.
void set_first_status(const Kind& kind, model::Node& document);

}  // namespace spillway::embedded
