// Supply: what a cluster has on sale, as its owner wrote it into a file. examples/agent-supply.yaml
// shows one. What this accepts the broker takes too, unless it changes what cannot change under an
// id: an owner hears of a slip with file and line, not with a refusal a minute later.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/offer.h"
#include "model/pool.h"

namespace spillway::agent {

struct Supply {
  std::vector<model::Pool> pools;
  std::vector<model::Offer> offers;
  bool operator==(const Supply&) const = default;
};

// Each noun is valid, no id is there twice, every offer's pool is there and one node of it has room
// for the offer's shape.
Status validate(const Supply& supply);

// `cluster` owns everything in it. Errors name `source`, the line and the path.
Result<Supply> supply_from_yaml(std::string_view text, const ClusterId& cluster,
                                std::string_view source = "supply");
Result<Supply> supply_from_json(std::string_view text, const ClusterId& cluster,
                                std::string_view source = "supply");
std::string to_json(const Supply& supply);

}  // namespace spillway::agent
