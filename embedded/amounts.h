// Resource amounts of nodes and pods, as the scheduler counts them: CPU in millicores, the rest
// whole, rounded up. What a quantity cannot be read as counts as nothing: validation has seen it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.h"
#include "model/node.h"

namespace spillway::embedded {

using Amounts = std::map<std::string, int64_t, std::less<>>;

// As Kubernetes rounds: away from zero. A debt, however small, does not become nothing.
Rounding rounding_of(std::string_view quantity);
std::optional<int64_t> parse_amount(std::string_view resource, std::string_view text);
Amounts read_amounts(const model::Node* resources);

// The larger of the sum of containers and the largest init container (with the sidecars that were
// started before it), plus overhead; and one pod.
Amounts requests_of(const model::Node& pod);

// What is more than an int64 holds, is as much as it holds.
void add(Amounts& sum, const Amounts& more);
void subtract(Amounts& sum, const Amounts& less);

}  // namespace spillway::embedded
