// Readings of what units have used, as options or as a file.
#pragma once

#include <string>
#include <vector>

#include "cli/word.h"
#include "model/contract_event.h"

namespace spillway::cli {

struct UseOptions {
  std::string file;
  int32_t unit = 0;
  std::string cpu_hours;
  std::string memory_gib_hours;
  std::string storage_gib_hours;
  std::vector<std::string> gpu_hours;       // nvidia-a100=1.5
  std::vector<std::string> extended_hours;  // example.com/fpga=2
};

void add_use_options(Word word, UseOptions& options);

// Errors name the option.
Result<std::vector<model::MeteredUse>> readings_from(const UseOptions& options);

// Lines of "unit resource hours": 0 cpu 12.5. The resources are cpu, memory and storage (hours of a
// GiB), gpu/MODEL, and names with a slash. Empty lines and what follows # say nothing.
Result<std::vector<model::MeteredUse>> readings_in(const std::string& text,
                                                   const std::string& source);

}  // namespace spillway::cli
