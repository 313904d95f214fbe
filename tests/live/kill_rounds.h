// A broker that is killed under load, again and again: every hold that was acknowledged must be
// there under its key, and no more may be sold than was ever asked for.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::test {

struct KillReport {
  std::string broken;  // what is wrong; empty: nothing
  int rounds = 0;
  int64_t acknowledged = 0;
  int64_t unanswered_there = 0;  // written, and killed before the answer
};

KillReport kill_brokers(int rounds, uint64_t seed);

}  // namespace spillway::test
