// Budget: how much work the judgement of one request may be. Expressions are ours, but what they go
// through was sent by somebody who may want it to take long. Memory is bounded with it: nothing is
// made without a step.
#pragma once

#include <cstddef>

namespace spillway::fabric::cel {

class Budget {
 public:
  explicit Budget(size_t steps) : left_(steps) {}

  bool take(size_t steps = 1) {
    if (steps > left_) {
      left_ = 0;
      return false;
    }
    left_ -= steps;
    return true;
  }
  // Bytes are looked at many at a time.
  bool take_bytes(size_t bytes) { return take(1 + bytes / 32); }

 private:
  size_t left_;
};

}  // namespace spillway::fabric::cel
