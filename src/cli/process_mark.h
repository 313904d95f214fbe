// ProcessMark: a process that was left running, by name, number and when it started. A number alone
// may by now be somebody else's.
#pragma once

#include <chrono>
#include <cstdint>
#include <istream>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace spillway::cli {

struct ProcessMark {
  std::string name;
  pid_t pid = 0;
  uint64_t started = 0;  // ticks since the machine started
};

ProcessMark mark_of(const std::string& name, pid_t pid);  // of one that runs
std::string to_line(const ProcessMark& mark);
std::vector<ProcessMark> read_marks(std::istream& file);

bool runs(const ProcessMark& mark);
// Sends the signal to those that run. Whether all have ended within that time.
bool end_all(std::span<const ProcessMark> all, int signal, std::chrono::milliseconds within);
// By SIGTERM, then by SIGKILL.
bool end_all(std::span<const ProcessMark> all);

}  // namespace spillway::cli
