#include "live/broker_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"

namespace spillway::test {
namespace {

// "broker of lab listens on https://localhost:40123"
uint16_t port_in(const std::string& line) {
  const size_t colon = line.rfind(':');
  SPILLWAY_CHECK(line.starts_with("broker of ") && colon != std::string::npos,
                 "the broker did not say that it is ready: " + line);
  return static_cast<uint16_t>(std::stoi(line.substr(colon + 1)));
}

std::string read_line(int fd) {
  std::string line;
  char c = 0;
  while (true) {
    const ssize_t got = ::read(fd, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || c == '\n') return line;
    line += c;
  }
}

}  // namespace

pid_t run_program(std::vector<std::string>& words, int out, int err) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  SPILLWAY_CHECK(pid >= 0, "no fork");
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that crashes leaves no process behind
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

std::string spillway_program() {
  const char* folder = std::getenv("SPILLWAY_BINARY_DIR");
  if (folder != nullptr) return std::string(folder) + "/spillway";
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "spillway").string();
}

namespace {

int64_t status_of(pid_t pid, std::string_view field) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::stoll(line.substr(field.size()));
  }
  return -1;
}

}  // namespace

int64_t rss_kib_of(pid_t pid) { return status_of(pid, "VmRSS:"); }
int64_t peak_rss_kib_of(pid_t pid) { return status_of(pid, "VmHWM:"); }

double cpu_seconds_of(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  SPILLWAY_CHECK(::clock_getcpuclockid(pid, &clock) == 0 && ::clock_gettime(clock, &time) == 0,
                 "no clock of the process");
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

BrokerProcess::BrokerProcess(std::string data, std::vector<std::string> settings)
    : data_(std::move(data)), settings_(std::move(settings)) {}

BrokerProcess::~BrokerProcess() {
  if (pid_ > 0) kill();
}

ChildProcess::ChildProcess(std::vector<std::string> words) {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  pid_ = run_program(words, nowhere, nowhere);
  ::close(nowhere);
}

ChildProcess::~ChildProcess() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void BrokerProcess::start() {
  std::vector<std::string> words{spillway_program(), "broker", "--data", data_};
  for (const std::string& setting : settings_) words.insert(words.end(), {"--set", setting});
  words.insert(words.end(), {"--set", fmt::format("listen=127.0.0.1:{}", port_)});
  std::array<int, 2> pipe{};
  SPILLWAY_CHECK(::pipe2(pipe.data(), O_CLOEXEC) == 0, "no pipe");
  pid_ = run_program(words, pipe[1], STDERR_FILENO);
  ::close(pipe[1]);
  port_ = port_in(read_line(pipe[0]));
  ::close(pipe[0]);
}

void BrokerProcess::kill() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

int BrokerProcess::terminate() {
  ::kill(pid_, SIGTERM);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

double BrokerProcess::cpu_seconds() const { return cpu_seconds_of(pid_); }
int64_t BrokerProcess::rss_kib() const { return rss_kib_of(pid_); }

}  // namespace spillway::test
