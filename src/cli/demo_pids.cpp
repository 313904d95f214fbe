#include "cli/demo_pids.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "cli/demo_clock.h"
#include "cli/demo_stage.h"

namespace spillway::cli {
namespace {

constexpr auto k_look = std::chrono::milliseconds(20);

struct Left {
  std::string name;
  pid_t pid = 0;
  uint64_t started = 0;
};

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

bool runs(const Left& left) { return left.pid > 1 && started_at(left.pid) == left.started; }

// Whether all have ended within that time.
bool end_all(const std::vector<Left>& all, int signal, std::chrono::milliseconds within) {
  for (const Left& left : all) {
    if (runs(left)) ::kill(left.pid, signal);
  }
  const auto ended =
      wait_until(within, k_look, [&]() -> Result<bool> { return std::ranges::none_of(all, runs); });
  return ended.value_or(false);
}

}  // namespace

std::string pid_line(const std::string& name, pid_t pid) {
  return fmt::format("{} {} {}\n", name, pid, started_at(pid));
}

Status stop_kept(const std::filesystem::path& given) {
  const auto folder = given.has_filename() ? given : given.parent_path();  // without the last slash
  std::ifstream file(folder / k_pids_file);
  // All that is in it will be removed: it must be one that a demo has made.
  if (!folder.filename().string().starts_with(k_folder_prefix) || !file) {
    return fail(Code::not_found, folder.string(), "no demo was kept there",
                "name the folder that spillway demo --keep printed");
  }
  std::vector<Left> all;
  for (Left left; file >> left.name >> left.pid >> left.started;) all.push_back(left);
  if (!end_all(all, SIGTERM, std::chrono::seconds(5)) &&
      !end_all(all, SIGKILL, std::chrono::seconds(5))) {
    return fail(Code::unavailable, folder.string(), "a process of it does not end", "try again");
  }
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (!error) return {};
  return fail(Code::denied, folder.string(), "it cannot be removed: " + error.message(),
              "remove it by hand; its processes have ended");
}

}  // namespace spillway::cli
