// Both machines converge from anywhere (property/fabric/both_machines.h).
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "property/fabric/both_machines.h"

namespace spillway::fabric {
namespace {

RC_GTEST_PROP(Machines, ConvergeFromAnywhereAndLeaveNothingBehind, ()) {
  Both both;
  const int steps = 20 + below(200);
  for (int i = 0; i < steps; ++i) both.step();
  RC_ASSERT(both.settle() >= 0);
  both.check();
  RC_ASSERT(both.settle() == 0);
  both.end_all();
  RC_ASSERT(both.settle() >= 0);
  both.check();
  both.check_nothing_left();
  RC_CLASSIFY(both.has_sold(), "something was granted");
}

}  // namespace
}  // namespace spillway::fabric
