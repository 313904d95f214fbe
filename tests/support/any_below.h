// A small random number in a property.
#pragma once

#include <rapidcheck.h>

namespace spillway::test {

// All of the range from the first case on.
inline int any_below(int bound) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, bound));
}

}  // namespace spillway::test
