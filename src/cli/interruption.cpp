#include "cli/interruption.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace spillway::cli {
namespace {

bool would_end_us(int signal, const sigset_t& blocked) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL &&
         sigismember(&blocked, signal) == 0;
}

}  // namespace

Interruption::Interruption() {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  sigemptyset(&held_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (would_end_us(signal, blocked)) sigaddset(&held_, signal);
  }
  fd_ = ::signalfd(-1, &held_, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ >= 0) pthread_sigmask(SIG_BLOCK, &held_, nullptr);
}

Interruption::~Interruption() {
  if (fd_ < 0) return;
  ::close(fd_);
  pthread_sigmask(SIG_UNBLOCK, &held_, nullptr);
}

// The signal is not read: it is to be pending still when we let go of it.
void Interruption::ends(net::Poll& poll) {
  if (fd_ < 0) return;
  poll.watch(fd_, true, false, [this, &poll](net::Ready) {
    poll.unwatch(fd_);
    poll.stop();
  });
}

}  // namespace spillway::cli
