// A Loop whose time passes only when a test says so. One thread.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "host/loop.h"

namespace spillway::test {

class ManualLoop final : public host::Loop {
 public:
  Instant now() override { return now_; }
  void post(host::Task task) override { posted_.push_back(std::move(task)); }
  void after(Duration delay, host::Task task) override {
    timers_.emplace(std::pair(now_ + delay, next_order_++), std::move(task));
  }

  // Runs what is posted, and what that posts.
  void run() {
    while (!posted_.empty()) {
      const host::Task task = std::move(posted_.front());
      posted_.pop_front();
      task();
    }
  }
  // Lets that much time pass, from timer to timer.
  void run_for(Duration time) {
    const Instant end = now_ + time;
    run();
    while (!timers_.empty() && timers_.begin()->first.first <= end) {
      auto timer = timers_.extract(timers_.begin());
      now_ = std::max(now_, timer.key().first);
      timer.mapped()();
      run();
    }
    now_ = end;
  }
  // The process is stopped and goes on later: timers that were due meanwhile come late.
  void sleep(Duration time) { now_ = now_ + time; }

 private:
  Instant now_{1'769'851'800'250};
  uint64_t next_order_ = 0;
  std::deque<host::Task> posted_;
  std::map<std::pair<Instant, uint64_t>, host::Task> timers_;
};

}  // namespace spillway::test
