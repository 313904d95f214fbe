// What was said on a contract, by its other party: it has been judged by whoever carries it, and is
// bound to that contract and to that party.
#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"

namespace spillway::agent {

struct Received {
  ContractId contract;
  std::string step;
  int64_t sequence = 0;
  std::string body;
};

}  // namespace spillway::agent
