// What a cluster has on sale, as its owner wrote it into a file. examples/agent-supply.yaml shows
// one. What this accepts the broker takes too (supply/supply.h): an owner hears of a slip with file
// and line, not with a refusal a minute later.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "supply/supply.h"

namespace spillway::agent {

using supply::Supply;

// `cluster` owns everything in it. Errors name `source`, the line and the path.
Result<Supply> supply_from_yaml(std::string_view text, const ClusterId& cluster,
                                std::string_view source = "supply");
Result<Supply> supply_from_json(std::string_view text, const ClusterId& cluster,
                                std::string_view source = "supply");
std::string to_json(const Supply& supply);

}  // namespace spillway::agent
