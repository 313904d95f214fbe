// Files that a person named on the command line.
#pragma once

#include <string>

#include "base/result.h"

namespace spillway::cli {

Result<std::string> read_file(const std::string& path);

}  // namespace spillway::cli
