// A contest for one lease, and a record of who believed to hold it, from when until when. Every
// contender has a connection of its own to cut.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cluster_under_test.h"
#include "kube/lease.h"

namespace spillway::conformance {

struct Holding {
  using Clock = std::chrono::steady_clock;
  std::string who;
  Clock::time_point from;
  std::optional<Clock::time_point> until;  // none: it still holds, or has died
};

class Contest {
 public:
  Contest(ClusterUnderTest& cluster, kube::LeaseOptions options);
  ~Contest();
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;

  void enter(const std::string& who);
  void die(const std::string& who);  // without a word
  void release(const std::string& who);
  void cut(const std::string& who, bool is_cut = true);
  // Whoever holds it gives it up after that time, and enters again, so many times each.
  void take_turns(Duration holds, int turns);

  // All so far, in the order in which they began: so many at least, or fewer if they do not come
  // in time.
  std::vector<Holding> holdings(size_t count, std::chrono::seconds patience = k_patience);

 private:
  class Line;  // that can be cut
  struct Contender;

  void run(const std::function<void()>& what);
  void begin(const std::string& who);
  void give_up(const std::string& who);
  void on_held(const std::string& who);
  void on_end(const std::string& who);

  ClusterUnderTest& cluster_;
  kube::LeaseOptions options_;
  std::map<std::string, std::unique_ptr<Contender>> contenders_;
  std::optional<Duration> holds_;
  int turns_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Holding> holdings_;
  host::Lifeline life_;
};

}  // namespace spillway::conformance
