#include "cli/sim_replay.h"

#include <fmt/format.h>

#include "base/shell_text.h"

namespace spillway::cli {

std::string replay_line(uint64_t seed, const std::string& scenario, const std::string& mutant) {
  std::string line = fmt::format("spillway sim --seed {}", seed);
  if (!scenario.empty()) line += " --scenario " + shell_word(scenario);
  if (mutant != "none") line += " --mutant " + shell_word(mutant);
  return line;
}

}  // namespace spillway::cli
