// A watch as it comes over the wire, without the machine that takes it up again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "conformance/cluster_under_test.h"
#include "kube/lines.h"

namespace spillway::conformance {

class RawWatch {
 public:
  // `more` goes into the query: "resourceVersion=5&labelSelector=…".
  RawWatch(ClusterUnderTest& cluster, const Resource& resource, const std::string& space,
           const std::string& more);
  ~RawWatch();
  RawWatch(const RawWatch&) = delete;
  RawWatch& operator=(const RawWatch&) = delete;

  // Waits until the server has answered. From then on changes are told as they happen.
  int status();
  // "ADDED a", "BOOKMARK", "ERROR 410", "END" (in good order), "BROKEN": all that came
  // since the last call, so many at least, or fewer if they do not come in time.
  std::vector<std::string> next(size_t count);
  // All up to "END" or "BROKEN".
  std::vector<std::string> rest();
  std::chrono::milliseconds lasted();    // from the answer to the end
  Object last(const std::string& type);  // object of the last event of that type

 private:
  using Clock = std::chrono::steady_clock;
  struct Event {
    std::string text;
    std::string type;
    Object object;
  };

  void take(const Object& change);
  void note(Event event);
  std::vector<std::string> take_texts();

  ClusterUnderTest& cluster_;
  kube::Lines lines_;
  std::unique_ptr<net::Reading> reading_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int status_ = 0;
  Clock::time_point answered_;
  Clock::time_point ended_;
  bool is_over_ = false;
  std::vector<Event> events_;
  size_t read_ = 0;  // of the events
};

}  // namespace spillway::conformance
