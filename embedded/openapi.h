// As much of OpenAPI v3 as makes kubectl leave validation to the server: which kinds there are, and
// that they take fieldValidation and dryRun. No schema is described.
#pragma once

#include <optional>
#include <string>

#include "embedded/registry.h"
#include "model/node.h"

namespace spillway::embedded {

model::Node openapi_index(const Registry& registry);
std::optional<model::Node> openapi_of(const Registry& registry, const std::string& group,
                                      const std::string& version);

}  // namespace spillway::embedded
