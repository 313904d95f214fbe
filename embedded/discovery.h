// Discovery: what is served where, and whether the server is well.
#pragma once

#include <optional>

#include "embedded/ask.h"
#include "embedded/registry.h"

namespace spillway::embedded {

struct Reply;

// None: nothing is there.
std::optional<Reply> discover(const Registry& registry, const Ask& ask);

}  // namespace spillway::embedded
