// Signals as events of a Poll. They are blocked before any thread starts, so that no thread is
// interrupted by one; the Poll reads them when it comes to it.
#pragma once

#include <functional>
#include <initializer_list>

#include "base/result.h"
#include "net/poll.h"

namespace spillway::cli {

class Signals {
 public:
  // Before any thread is made. SIGPIPE is ignored too: writing to what is closed is an error there.
  static Result<Signals> block(std::initializer_list<int> which);
  Signals(Signals&& other) noexcept;
  Signals& operator=(Signals&&) = delete;
  ~Signals();

  void watch(net::Poll& poll, std::function<void(int signal)> then);

 private:
  explicit Signals(int fd) : fd_(fd) {}
  int fd_;
  net::Poll* poll_ = nullptr;
};

}  // namespace spillway::cli
