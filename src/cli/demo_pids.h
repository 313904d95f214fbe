// The file that says which processes a kept demo has left: name, number, and when it started. A
// number alone may by now be somebody else's.
#pragma once

#include <string>

#include <sys/types.h>

namespace spillway::cli {

inline constexpr const char* k_folder_prefix = "spillway-demo.";
inline constexpr const char* k_pids_file = "demo.pids";

std::string pid_line(const std::string& name, pid_t pid);

}  // namespace spillway::cli
