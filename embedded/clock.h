// Clock: what time the cluster believes it is: the loop's, and the skew that a fault gives it.
#pragma once

#include "host/loop.h"

namespace spillway::embedded {

class Clock {
 public:
  explicit Clock(host::Loop& loop) : loop_(loop) {}
  Instant now() const { return loop_.now() + skew; }

  Duration skew{};

 private:
  host::Loop& loop_;
};

}  // namespace spillway::embedded
