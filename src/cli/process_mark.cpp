#include "cli/process_mark.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "cli/waiting.h"

namespace spillway::cli {
namespace {

constexpr auto k_mark_look = std::chrono::milliseconds(20);

// Field 22 of /proc/<pid>/stat: ticks since the machine started. 0: it does not run.
uint64_t started_at(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t name_ends = text.rfind(')');
  if (name_ends == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_ends + 1));
  std::string state;
  fields >> state;
  if (state == "Z") return 0;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  uint64_t started = 0;
  fields >> started;
  return started;
}

}  // namespace

ProcessMark mark_of(const std::string& name, pid_t pid) { return {name, pid, started_at(pid)}; }

std::string to_line(const ProcessMark& mark) {
  return fmt::format("{} {} {}\n", mark.name, mark.pid, mark.started);
}

std::vector<ProcessMark> read_marks(std::istream& file) {
  std::vector<ProcessMark> all;
  for (ProcessMark mark; file >> mark.name >> mark.pid >> mark.started;) all.push_back(mark);
  return all;
}

bool runs(const ProcessMark& mark) {
  return mark.pid > 1 && mark.started > 0 && started_at(mark.pid) == mark.started;
}

bool end_all(std::span<const ProcessMark> all, int signal, std::chrono::milliseconds within) {
  for (const ProcessMark& mark : all) {
    if (runs(mark)) ::kill(mark.pid, signal);
  }
  const auto ended = wait_until(within, k_mark_look,
                                [&]() -> Result<bool> { return std::ranges::none_of(all, runs); });
  return ended.value_or(false);
}

bool end_all(std::span<const ProcessMark> all) {
  return end_all(all, SIGTERM, std::chrono::seconds(5)) ||
         end_all(all, SIGKILL, std::chrono::seconds(5));
}

}  // namespace spillway::cli
