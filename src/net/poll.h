// Poll: the event loop of a service: sockets, timers and work posted by other threads, on one
// thread. It knows nothing of markets; services/service_loop.h shows it to the host as a Loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/time.h"

namespace spillway::net {

using Task = std::function<void()>;

// What a watched descriptor is ready for. Errors and hang-ups show as both.
struct Ready {
  bool readable = false;
  bool writable = false;
};

class Poll {
 public:
  Poll();
  ~Poll();
  Poll(const Poll&) = delete;
  Poll& operator=(const Poll&) = delete;

  Instant now() const;                    // wall clock
  void post(Task task);                   // from any thread
  void after(Duration delay, Task task);  // steady clock; no cancel: tasks look if they still apply

  // Level-triggered. `then` may unwatch itself or others, and destroy what it belongs to.
  using Watcher = std::function<void(Ready)>;
  void watch(int fd, bool read, bool write, Watcher then);
  void change(int fd, bool read, bool write);
  void unwatch(int fd);  // before the descriptor is closed

  void run();   // until stop(); on one thread
  void stop();  // from any thread; what is posted by then still runs, timers do not

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace spillway::net
