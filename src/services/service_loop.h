// ServiceLoop: a Poll as the host sees it. One thread runs both. LoneLoop has a Poll of its own,
// for who has no sockets.
#pragma once

#include <utility>

#include "host/loop.h"
#include "net/poll.h"

namespace spillway::services {

class ServiceLoop : public host::Loop {
 public:
  explicit ServiceLoop(net::Poll& poll) : poll_(poll) {}

  Instant now() override { return poll_.now(); }
  void post(host::Task task) override { poll_.post(std::move(task)); }
  void after(Duration delay, host::Task task) override { poll_.after(delay, std::move(task)); }

 private:
  net::Poll& poll_;
};

namespace detail {
struct OwnedPoll {  // a base, so that it is there before the loop that is shown it
  net::Poll own;
};
}  // namespace detail

class LoneLoop final : private detail::OwnedPoll, public ServiceLoop {
 public:
  LoneLoop() : ServiceLoop(own) {}
  void run() { own.run(); }    // until stop(); on one thread
  void stop() { own.stop(); }  // from any thread; what is queued then still runs, timers do not
};

}  // namespace spillway::services
