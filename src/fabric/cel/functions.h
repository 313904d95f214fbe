// The functions that expressions may call: of CEL (size, string, startsWith, contains), of its
// strings (split, substring), of its optionals (hasValue, orValue), of Kubernetes (quantity, isIP,
// isCIDR, cidr).
//
// Addresses are of IPv4, in the one spelling of fabric/cidr.h; Kubernetes has IPv6 beside it, and
// takes ranges with bits behind their prefix. What is neither here is refused where it would be
// granted, never the other way round.
#pragma once

#include <span>
#include <string_view>

#include "fabric/cel/value.h"

namespace spillway::fabric::cel {

enum class Called : uint8_t { on_nothing, on_a_value };

// Whether there is one that is called like this; `arguments` without what it is called on.
bool has_function(std::string_view name, Called called, size_t arguments);

// Of one that there is. None of the arguments is a Failure; the first is what it is called on.
Value call(std::string_view name, Called called, std::span<const Value> arguments, Budget& budget);

}  // namespace spillway::fabric::cel
