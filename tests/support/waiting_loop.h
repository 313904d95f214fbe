// A Loop for tests that wait: tasks run on the thread that waits, in the order in which they came.
// Time does not pass and there are no timers.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "host/loop.h"

namespace spillway::test {

class WaitingLoop final : public host::Loop {
 public:
  Instant now() override { return {}; }
  void after(Duration, host::Task) override {
    broken_invariant("this loop has no timers", __FILE__, __LINE__);
  }
  void post(host::Task task) override {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_all();
  }

  // Runs what is posted until `done`; a test that waits for what never comes ends here.
  template <class Done>
  void run_until(Done done) {
    while (!done()) {
      std::vector<host::Task> ready;
      {
        std::unique_lock lock(mutex_);
        const bool came =
            wake_.wait_for(lock, std::chrono::minutes(2), [this] { return !tasks_.empty(); });
        SPILLWAY_CHECK(came, "an answer did not come within two minutes");
        ready.swap(tasks_);
      }
      for (host::Task& task : ready) task();
    }
  }

  // Starts something that answers once, and waits for the answer.
  template <class T, class Start>
  Result<T> wait_for(Start start) {
    std::optional<Result<T>> answer;
    start([&answer](Result<T> result) { answer.emplace(std::move(result)); });
    run_until([&answer] { return answer.has_value(); });
    return std::move(*answer);
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<host::Task> tasks_;
};

}  // namespace spillway::test
