#include "cli/signals.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <sys/signalfd.h>
#include <unistd.h>

namespace spillway::cli {

Result<Signals> Signals::block(std::initializer_list<int> which) {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : which) sigaddset(&set, signal);
  const int blocked = pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const int fd = blocked == 0 ? ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK) : -1;
  if (fd < 0) {
    return fail(Code::internal, "signals", std::strerror(blocked == 0 ? errno : blocked),
                "look whether descriptors are left");
  }
  return Signals(fd);
}

Signals::Signals(Signals&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), poll_(std::exchange(other.poll_, nullptr)) {}

Signals::~Signals() {
  if (poll_ != nullptr) poll_->unwatch(fd_);
  if (fd_ >= 0) ::close(fd_);
}

void Signals::watch(net::Poll& poll, std::function<void(int signal)> then) {
  poll_ = &poll;
  poll.watch(fd_, true, false, [fd = fd_, then = std::move(then)](net::Ready) {
    signalfd_siginfo info{};
    while (::read(fd, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      then(static_cast<int>(info.ssi_signo));
    }
  });
}

}  // namespace spillway::cli
