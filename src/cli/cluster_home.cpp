#include "cli/cluster_home.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/ids.h"
#include "pki/private_file.h"

namespace spillway::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string home_of_all() {
  if (const std::string given = variable("SPILLWAY_CLUSTERS"); !given.empty()) return given;
  std::string state = variable("XDG_STATE_HOME");
  if (state.empty()) state = variable("HOME") + "/.local/state";
  return state + "/spillway/clusters";
}

}  // namespace

Result<ClusterHome> ClusterHome::of(const std::string& cluster) {
  SPILLWAY_TRY(check_cluster_id(cluster));
  return ClusterHome(home_of_all() + "/" + cluster);
}

Result<std::vector<std::string>> ClusterHome::all() {
  std::vector<std::string> names;
  std::error_code error;
  const std::string home = home_of_all();
  for (const auto& entry : std::filesystem::directory_iterator(home, error)) {
    std::error_code none;
    if (entry.is_directory(none)) names.push_back(entry.path().filename().string());
  }
  // What is not there yet holds no clusters; what cannot be looked into may.
  const bool is_missing = error == std::errc::no_such_file_or_directory;
  if (error && !is_missing) return pki::fail_errno(home, "reading the folder", error.value());
  std::ranges::sort(names);
  return names;
}

Result<pki::FileHandle> ClusterHome::lock() {
  std::error_code none;
  std::filesystem::create_directories(home_of_all(), none);
  return pki::lock_folder(home_of_all());
}

Result<pki::FileHandle> ClusterHome::open_log() const {
  pki::FileHandle file(::open(log().c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
  if (!file.is_open()) return pki::fail_errno(log(), "opening it", errno);
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return pki::fail_errno(log(), "it cannot be locked", errno);
  }
  return file;
}

bool ClusterHome::is_up() const {
  const pki::FileHandle file(::open(log().c_str(), O_RDONLY | O_CLOEXEC));
  // Shared: others who look at the same time do not take each other for the cluster.
  return file.is_open() && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

bool ClusterHome::is_of(int output) const {
  struct stat mine {};
  struct stat there {};
  return ::fstat(output, &mine) == 0 && ::stat(log().c_str(), &there) == 0 &&
         mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

std::optional<ProcessMark> ClusterHome::process() const {
  std::ifstream file(folder_ + "/process");
  for (const ProcessMark& mark : read_marks(file)) {
    if (runs(mark)) return mark;
  }
  return std::nullopt;
}

Status ClusterHome::remember(const ProcessMark& mark) const {
  return pki::write_private(folder_ + "/process", to_line(mark));
}

void ClusterHome::remove() const {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace spillway::cli
