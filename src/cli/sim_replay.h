// The line that brings back a failure of the simulation.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::cli {

// Safe to paste into a shell. `scenario` is empty and `mutant` "none" when there is none.
std::string replay_line(uint64_t seed, const std::string& scenario, const std::string& mutant);

}  // namespace spillway::cli
