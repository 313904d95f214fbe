// The built `spillway` as a process: run to its end, or kept running.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/comes_true.h"
#include "support/temporary_folder.h"

namespace spillway::cli {

inline std::string spillway_binary() {
  const char* folder = std::getenv("SPILLWAY_BINARY_DIR");
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  return (folder == nullptr ? here : std::filesystem::path(folder)) / "spillway";
}

// What there is of it: of a process, say, that ends while it is looked at.
inline std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Whether some line of the text has all of these.
inline bool has_line(const std::string& text, const std::vector<std::string>& parts) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto is_in = [&line](const std::string& part) { return line.find(part) != line.npos; };
    if (std::all_of(parts.begin(), parts.end(), is_in)) return true;
  }
  return false;
}

struct Ended {
  int code = -1;
  std::string out;
  std::string err;
};

// Through a shell, with `input` on standard input.
inline Ended run_spillway(const std::string& arguments, const std::string& input = {}) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "in") << input;
  const std::string command = "env -u SPILLWAY_DIR HOME=/nonexistent timeout 60 '" +
                              spillway_binary() + "' " + arguments + " <'" + (folder / "in") +
                              "' >'" + (folder / "out") + "' 2>'" + (folder / "err") + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 256, text_of(folder / "out"),
          text_of(folder / "err")};
}

// A port that was free a moment ago.
inline uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(fd);
  return ntohs(address.sin_port);
}

// Whether the process, of whoever it may be, ends within that time.
inline bool ends(pid_t pid, std::chrono::milliseconds within) {
  // Not pidfd_open(): glibc 2.36 declares it for C only.
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return errno == ESRCH;
  pollfd end{fd, POLLIN, 0};
  const bool came = ::poll(&end, 1, static_cast<int>(within.count())) == 1;
  ::close(fd);
  return came;
}

// A `spillway` that keeps running; ended with SIGTERM, or SIGKILL when it does not.
class Running {
 public:
  Running(const std::vector<std::string>& arguments, std::string out, const std::string& err)
      : out_(std::move(out)) {
    std::filesystem::remove(out_);  // says() must not read what an earlier one said
    pid_ = ::fork();
    if (pid_ != 0) return;
    std::vector<char*> words;
    std::string name = spillway_binary();
    words.push_back(name.data());
    for (const std::string& argument : arguments)
      words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    ::dup2(::open(out_.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600), STDERR_FILENO);
    ::execv(name.c_str(), words.data());
    ::_exit(127);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (pid_ > 0) stop(SIGKILL);
  }

  // On standard output, or in the file that standard error goes to.
  bool says(const std::string& what, const std::string& where = {}) const {
    return test::comes_true(
        [&] { return text_of(where.empty() ? out_ : where).find(what) != std::string::npos; });
  }
  // On standard output, all of these in one line.
  bool says_line(const std::vector<std::string>& parts) const {
    return test::comes_true([&] { return has_line(text_of(out_), parts); });
  }
  void signal(int number) const { ::kill(pid_, number); }
  int stop(int number) {
    ::kill(pid_, number);
    if (!ends(pid_, std::chrono::seconds(30))) ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256;
  }

 private:
  std::string out_;
  pid_t pid_ = -1;
};

}  // namespace spillway::cli
