// The loop of a service: one thread, real time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <tuple>
#include <vector>

#include "host/loop.h"

namespace spillway::host {

class RealLoop : public Loop {
 public:
  Instant now() override;
  void post(Task task) override;
  void after(Duration delay, Task task) override;

  void run();   // until stop(); on one thread
  void stop();  // from any thread; what is queued then still runs, timers do not

 private:
  // Steady: a step of the wall clock fires no timer early and none late.
  using Clock = std::chrono::steady_clock;

  struct Timer {
    Clock::time_point due;
    uint64_t order;  // of two that are due at once, the older first
    Task task;
    bool operator<(const Timer& other) const {
      return std::tie(other.due, other.order) < std::tie(due, order);
    }
  };

  bool take_ready(std::vector<Task>& ready);  // waits; false: stopped and empty

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Task> posted_;
  std::priority_queue<Timer> timers_;
  uint64_t next_order_ = 0;
  bool stopped_ = false;
};

}  // namespace spillway::host
