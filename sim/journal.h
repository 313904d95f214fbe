// The simulated disk's log: commits as checksummed frames of text. Written only when a machine
// crashes, to find out what a cut at any byte leaves: whole frames count, a torn one does not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/store.h"

namespace spillway::sim {

std::string frame(const host::Commit& commit);

struct Recovered {
  std::vector<host::Commit> commits;
  size_t torn_bytes = 0;  // after the last whole frame
};
Recovered recover(std::string_view bytes);

}  // namespace spillway::sim
