#include "cli/self_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace spillway::cli {
namespace {

// In the child: only what is allowed between fork and exec.
[[noreturn]] void become(char* const* argv, int out, int err, Outlives outlives, pid_t parent) {
  if (outlives == Outlives::nothing) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
  }
  ::setsid();
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  const int in = ::open("/dev/null", O_RDONLY);
  if (in < 0 || ::dup2(in, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0 ||
      ::dup2(err, STDERR_FILENO) < 0) {
    ::_exit(127);
  }
  ::execv("/proc/self/exe", argv);
  ::_exit(127);
}

}  // namespace

Result<pid_t> start_self(const std::vector<std::string>& words, int out, int err,
                         Outlives outlives) {
  std::vector<std::string> kept{"spillway"};
  kept.insert(kept.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : kept) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(argv.data(), out, err, outlives, parent);
  if (pid > 0) return pid;
  return fail(Code::unavailable, "spillway " + words.front(), std::strerror(errno),
              "look whether processes are left");
}

}  // namespace spillway::cli
