// Kubernetes quantities ("500m", "1.5Gi", "2e3"), read exactly.
//
// A quantity is read into whole steps of a given size (millicores for CPU, single bytes or pieces
// for the rest). What is no whole number of steps is refused with the nearest that is: Kubernetes
// would round up, and two parties that round differently do not agree on what was sold.
//
// What a cluster says of itself is not ours to refuse, and must be read as carefully as it is used:
// what is taken is rounded up, what is there is rounded down, and what is beyond an int64 is as
// large as one can be (Kubernetes caps there too).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace spillway {

enum class QuantityStep { whole, milli };

enum class Rounding { none, up, down };

Result<int64_t> parse_quantity(std::string_view text, QuantityStep step,
                               Rounding rounding = Rounding::none);

// The form of fewest digits that reads back to the same value, binary before decimal when equal:
// "1500m", "2", "4Gi", "1500Ki", "5G".
std::string cpu_to_text(int64_t millicores);
std::string bytes_to_text(int64_t bytes);

}  // namespace spillway
