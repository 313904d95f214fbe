#include "net/poll.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <limits>
#include <thread>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"

namespace spillway::net {
namespace {

using Clock = std::chrono::steady_clock;

struct Timer {
  Clock::time_point due;
  uint64_t order = 0;  // first come, first served among equals
  Task task;
  bool operator<(const Timer& other) const {
    return std::tie(other.due, other.order) < std::tie(due, order);
  }
};

// A descriptor's number comes back as soon as it is closed, and events of the old one may still be
// in the batch: the turn tells them apart.
struct Watched {
  std::shared_ptr<const Poll::Watcher> then;  // null: not watched
  uint32_t turn = 0;
  uint32_t interest = 0;
};

uint32_t interest_of(bool read, bool write) {
  return (read ? static_cast<uint32_t>(EPOLLIN) : 0U) |
         (write ? static_cast<uint32_t>(EPOLLOUT) : 0U);
}

constexpr uint64_t k_wake_mark = std::numeric_limits<uint64_t>::max();
constexpr int64_t k_longest_wait_ms = 60'000;

}  // namespace

struct Poll::Parts {
  int epoll = -1;
  int wake = -1;
  std::vector<Watched> watched;  // by descriptor
  std::atomic<std::thread::id> runner{};

  std::mutex mutex;  // for what follows
  std::vector<Task> posted;
  std::priority_queue<Timer> timers;
  uint64_t next_order = 0;
  bool stopped = false;
  bool is_woken = false;  // the eventfd is set already

  // With the mutex held. The loop's own thread looks at everything before it waits again.
  void wake_up() {
    if (is_woken || runner.load() == std::this_thread::get_id()) return;
    is_woken = true;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake, &one, sizeof one);
  }

  void calm_down() {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(wake, &count, sizeof count);
    const std::lock_guard lock(mutex);
    is_woken = false;
  }

  void control(int operation, int fd) {
    Watched& entry = watched[static_cast<size_t>(fd)];
    epoll_event event{};
    event.events = entry.interest;
    event.data.u64 = (static_cast<uint64_t>(entry.turn) << 32) | static_cast<uint32_t>(fd);
    const int result = ::epoll_ctl(epoll, operation, fd, &event);
    SPILLWAY_CHECK(result == 0, "epoll refuses a descriptor of ours");
  }

  Watched& entry_of(int fd) {
    SPILLWAY_CHECK(fd >= 0 && static_cast<size_t>(fd) < watched.size() &&
                       watched[static_cast<size_t>(fd)].then != nullptr,
                   "a descriptor that is not watched");
    return watched[static_cast<size_t>(fd)];
  }

  // What is due; how long to wait when nothing is; false when stopped and empty.
  bool take_due(std::vector<Task>& due, int& wait_ms);
  void dispatch(const epoll_event& event);
};

bool Poll::Parts::take_due(std::vector<Task>& due, int& wait_ms) {
  const std::lock_guard lock(mutex);
  due.swap(posted);
  wait_ms = 0;
  if (stopped) {
    if (!due.empty()) return true;
    stopped = false;  // so that it can run again
    return false;
  }
  if (timers.empty()) {
    wait_ms = due.empty() ? -1 : 0;
    return true;
  }
  const Clock::time_point now = Clock::now();
  while (!timers.empty() && timers.top().due <= now) {
    // top() is const only to protect the order, which pop() is about to end.
    due.push_back(std::move(const_cast<Timer&>(timers.top()).task));
    timers.pop();
  }
  if (due.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(timers.top().due - now);
    wait_ms = static_cast<int>(std::min<int64_t>(left.count(), k_longest_wait_ms));
  }
  return true;
}

void Poll::Parts::dispatch(const epoll_event& event) {
  if (event.data.u64 == k_wake_mark) {
    calm_down();
    return;
  }
  const auto fd = static_cast<size_t>(event.data.u64 & 0xffffffffU);
  if (fd >= watched.size() || watched[fd].turn != event.data.u64 >> 32) return;
  const std::shared_ptr<const Watcher> then = watched[fd].then;  // it may unwatch itself
  if (then == nullptr) return;
  // The interest may have changed since the batch was made.
  const uint32_t ready = event.events & (watched[fd].interest | EPOLLERR | EPOLLHUP);
  if (ready == 0) return;
  const bool is_broken = (ready & (EPOLLERR | EPOLLHUP)) != 0;
  (*then)({(ready & EPOLLIN) != 0 || is_broken, (ready & EPOLLOUT) != 0 || is_broken});
}

Poll::Poll() : parts_(std::make_unique<Parts>()) {
  parts_->epoll = ::epoll_create1(EPOLL_CLOEXEC);
  parts_->wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  SPILLWAY_CHECK(parts_->epoll >= 0 && parts_->wake >= 0, "no descriptors for an event loop");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = k_wake_mark;
  SPILLWAY_CHECK(::epoll_ctl(parts_->epoll, EPOLL_CTL_ADD, parts_->wake, &event) == 0,
                 "epoll refuses an eventfd");
}

Poll::~Poll() {
  ::close(parts_->epoll);
  ::close(parts_->wake);
}

Instant Poll::now() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(now).count()};
}

void Poll::post(Task task) {
  const std::lock_guard lock(parts_->mutex);
  parts_->posted.push_back(std::move(task));
  parts_->wake_up();
}

void Poll::after(Duration delay, Task task) {
  // Longer than a century is never; and its sum with any clock is in range.
  const int64_t ms = std::clamp<int64_t>(delay.ms, 0, 100LL * 365 * 24 * 3'600'000);
  const std::lock_guard lock(parts_->mutex);
  parts_->timers.push(
      {Clock::now() + std::chrono::milliseconds(ms), parts_->next_order++, std::move(task)});
  parts_->wake_up();
}

void Poll::watch(int fd, bool read, bool write, Watcher then) {
  SPILLWAY_CHECK(fd >= 0 && then != nullptr, "nothing to watch");
  if (static_cast<size_t>(fd) >= parts_->watched.size()) {
    parts_->watched.resize(static_cast<size_t>(fd) + 1);
  }
  Watched& entry = parts_->watched[static_cast<size_t>(fd)];
  SPILLWAY_CHECK(entry.then == nullptr, "a descriptor is watched twice");
  // Below the mark of the eventfd, whose turn is all ones.
  entry.turn = (entry.turn + 1) & 0x7fffffffU;
  entry.interest = interest_of(read, write);
  entry.then = std::make_shared<const Watcher>(std::move(then));
  parts_->control(EPOLL_CTL_ADD, fd);
}

void Poll::change(int fd, bool read, bool write) {
  Watched& entry = parts_->entry_of(fd);
  const uint32_t interest = interest_of(read, write);
  if (entry.interest == interest) return;
  entry.interest = interest;
  parts_->control(EPOLL_CTL_MOD, fd);
}

void Poll::unwatch(int fd) {
  Watched& entry = parts_->entry_of(fd);
  parts_->control(EPOLL_CTL_DEL, fd);
  // Dropping the watcher may drop its owner, which may watch and unwatch in turn.
  const auto dropped = std::move(entry.then);
  entry.then = nullptr;
}

void Poll::run() {
  parts_->runner = std::this_thread::get_id();
  std::vector<Task> due;
  std::array<epoll_event, 256> events;
  int wait_ms = 0;
  while (parts_->take_due(due, wait_ms)) {
    for (Task& task : due) {
      task();
      task = nullptr;  // what it holds is dropped before the next one runs
    }
    due.clear();
    const int count =
        ::epoll_wait(parts_->epoll, events.data(), static_cast<int>(events.size()), wait_ms);
    SPILLWAY_CHECK(count >= 0 || errno == EINTR, "epoll_wait fails");
    for (int i = 0; i < count; ++i) parts_->dispatch(events[static_cast<size_t>(i)]);
  }
  parts_->runner = std::thread::id{};
}

void Poll::stop() {
  const std::lock_guard lock(parts_->mutex);
  parts_->stopped = true;
  parts_->wake_up();
}

}  // namespace spillway::net
