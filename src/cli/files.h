// Files that a person named on the command line.
#pragma once

#include <string>

#include "base/result.h"

namespace spillway::cli {

Result<std::string> read_file(const std::string& path);

// False also when nobody may look.
bool is_there(const std::string& path);

// The last line of a log that has any letter in it; empty: there is none.
std::string last_line(const std::string& path);

}  // namespace spillway::cli
