#include "host/real_loop.h"

namespace spillway::host {

Instant RealLoop::now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(now).count()};
}

void RealLoop::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void RealLoop::after(Duration delay, Task task) {
  {
    const std::lock_guard lock(mutex_);
    timers_.push(
        {Clock::now() + std::chrono::milliseconds(delay.ms), next_order_++, std::move(task)});
  }
  wake_.notify_one();
}

void RealLoop::run() {
  std::vector<Task> ready;
  while (take_ready(ready)) {
    for (Task& task : ready) task();
    ready.clear();
  }
}

void RealLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_one();
}

bool RealLoop::take_ready(std::vector<Task>& ready) {
  std::unique_lock lock(mutex_);
  while (true) {
    ready.swap(posted_);
    while (!stopped_ && !timers_.empty() && timers_.top().due <= Clock::now()) {
      // top() is const only to protect the order, which pop() is about to end.
      ready.push_back(std::move(const_cast<Timer&>(timers_.top()).task));
      timers_.pop();
    }
    if (!ready.empty()) return true;
    if (stopped_) return false;
    if (timers_.empty()) {
      wake_.wait(lock);
    } else {
      wake_.wait_until(lock, Clock::time_point(timers_.top().due));  // a copy: the top may change
    }
  }
}

}  // namespace spillway::host
