// A small random number in a property.
#pragma once

#include <rapidcheck.h>

namespace spillway::test {

inline int any_below(int bound) { return *rc::gen::inRange(0, bound); }

}  // namespace spillway::test
