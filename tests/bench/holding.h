// A market to hold from, for benchmarks: one provider, one pool, one offer, and buyers.
#pragma once

#include "market/commands.h"

namespace spillway::bench {

// Everything that has to be told to the book before anyone can hold.
std::vector<market::Command> market_of_one_pool(int64_t units, int buyers);

ClusterId buyer_number(int number);
market::Hold hold_number(int64_t number, int buyers);

}  // namespace spillway::bench
