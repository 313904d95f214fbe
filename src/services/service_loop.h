// ServiceLoop: a Poll as the host sees it. One thread runs both.
#pragma once

#include <utility>

#include "host/loop.h"
#include "net/poll.h"

namespace spillway::services {

class ServiceLoop final : public host::Loop {
 public:
  explicit ServiceLoop(net::Poll& poll) : poll_(poll) {}

  Instant now() override { return poll_.now(); }
  void post(host::Task task) override { poll_.post(std::move(task)); }
  void after(Duration delay, host::Task task) override { poll_.after(delay, std::move(task)); }

 private:
  net::Poll& poll_;
};

}  // namespace spillway::services
