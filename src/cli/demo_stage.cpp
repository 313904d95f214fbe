#include "cli/demo_stage.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/files.h"
#include "cli/process_mark.h"
#include "cli/self_process.h"
#include "pki/file_handle.h"
#include "pki/private_file.h"

namespace spillway::cli {
namespace {

using pki::FileHandle;

constexpr timespec k_stage_look{0, 50'000'000};

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

tl::unexpected<Error> no_process(const std::string& name) {
  return fail(Code::unavailable, name, std::strerror(errno), "look whether processes are left");
}

int open_log(const std::string& path) {
  return ::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
}

std::string last_words(const std::string& log) {
  const std::string last = last_line(log);
  return last.empty() ? "it did not say why" : last;
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<size_t>(got));
  }
}

// Not std::filesystem::temp_directory_path(), to which an empty TMPDIR is a folder that is missing.
std::string temporary_parent() {
  const char* given = std::getenv("TMPDIR");
  return given == nullptr || *given == '\0' ? "/tmp" : given;
}

}  // namespace

Stage::Stage(std::filesystem::path folder, bool kept) : folder_(std::move(folder)), kept_(kept) {}

Result<std::unique_ptr<Stage>> Stage::make(bool kept) {
  const auto refuse = [](const std::string& reason) {
    return fail(Code::unavailable, "temporary folder", "none can be made: " + reason,
                "set TMPDIR to a folder that is there and writable");
  };
  std::string name = fmt::format("{}/{}XXXXXX", temporary_parent(), k_folder_prefix);
  const sigset_t ending = ending_signals();
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away must not leave the folder behind
  if (mkdtemp(name.data()) == nullptr) return refuse(std::strerror(errno));
  std::unique_ptr<Stage> stage(new Stage(name, kept));
  stage->signals_ = std::jthread(
      [stage = stage.get()](const std::stop_token& stop) { stage->watch_signals(stop); });
  return stage;
}

Stage::~Stage() {
  signals_.request_stop();
  if (signals_.joinable()) signals_.join();
  if (standing_) return;
  const std::lock_guard lock(mutex_);
  clear();
}

void Stage::watch_signals(const std::stop_token& stop) {
  const sigset_t ending = ending_signals();
  while (!stop.stop_requested()) {
    const int signal = ::sigtimedwait(&ending, nullptr, &k_stage_look);
    if (signal <= 0) continue;
    const std::lock_guard lock(mutex_);  // to the end: nobody starts anything more
    clear();
    constexpr std::string_view k_told = "\nspillway demo: ended early; nothing is left running\n";
    [[maybe_unused]] const ssize_t told = ::write(STDERR_FILENO, k_told.data(), k_told.size());
    ::_exit(128 + signal);
  }
}

// Never throws: it is how everything ends.
void Stage::clear() {
  for (const auto& [name, pid] : running_) ::kill(pid, SIGKILL);
  for (const auto& [name, pid] : running_) ::waitpid(pid, nullptr, 0);
  running_.clear();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Result<pid_t> Stage::spawn(const std::string& name, const std::vector<std::string>& words, int out,
                           int err) {
  if (out < 0 || err < 0) return no_process(name);
  const std::lock_guard lock(mutex_);
  auto pid = start_self(words, out, err, kept_ ? Outlives::parent : Outlives::nothing);
  if (pid) running_[name] = *pid;
  return pid;
}

// Waits for its end first and reaps under the mutex: clear() never signals a number that is no
// longer ours.
int Stage::reap(const std::string& name) {
  pid_t pid = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = running_.find(name);
    if (found == running_.end()) return -1;
    pid = found->second;
  }
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  const std::lock_guard lock(mutex_);
  int status = 0;
  if (running_.erase(name) == 0 || ::waitpid(pid, &status, 0) != pid) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Result<std::string> Stage::run(const std::string& name, const std::vector<std::string>& words) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return no_process(name);
  const FileHandle reads(ends[0]);
  std::optional<FileHandle> writes(std::in_place, ends[1]);
  const std::string log = path(name + ".log");
  const FileHandle err(open_log(log));
  const auto pid = spawn(name, words, writes->get(), err.get());
  writes.reset();  // else what is read would have no end
  if (!pid) return tl::unexpected(pid.error());
  std::string printed = read_all(reads.get());
  if (reap(name) == 0) return printed;
  return fail(Code::unavailable, "spillway " + words.front(), last_words(log), "try again");
}

Result<pid_t> Stage::start(const std::string& name, const std::vector<std::string>& words) {
  const FileHandle out(
      ::open(path(name + ".out").c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600));
  const FileHandle err(open_log(path(name + ".log")));
  auto pid = spawn(name, words, out.get(), err.get());
  if (pid) SPILLWAY_TRY(write_pids());
  return pid;
}

Status Stage::write_pids() {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [name, pid] : running_) text += to_line(mark_of(name, pid));
  return pki::write_private(path(k_pids_file), text);
}

Status Stage::check_runs(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = running_.find(name);
  siginfo_t info{};
  if (found != running_.end() &&
      ::waitid(P_PID, static_cast<id_t>(found->second), &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
      info.si_pid == 0) {
    return {};
  }
  return fail(Code::unavailable, name, "its process ended: " + last_words(path(name + ".log")),
              "try again");
}

}  // namespace spillway::cli
