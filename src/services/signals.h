// The signals by which a service is told to end or to read its files again, on its own loop.
#pragma once

#include <csignal>

#include <sys/signalfd.h>
#include <unistd.h>

namespace spillway::services {

// Signals as a descriptor, from here to the end of its life.
class Signals {
 public:
  Signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
    fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() {
    if (fd_ >= 0) ::close(fd_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  int fd() const { return fd_; }
  int next() {  // 0: none
    signalfd_siginfo info{};
    if (::read(fd_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return 0;
    return static_cast<int>(info.ssi_signo);
  }

 private:
  sigset_t before_{};
  int fd_ = -1;
};

}  // namespace spillway::services
