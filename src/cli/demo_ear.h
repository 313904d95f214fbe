// Ear: follows somebody's events and notes when each arrived, so that the demo can tell how long
// the news of a commit took. It has the same stream as the agent of that identity, beside it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cli/session.h"
#include "cli/waiting.h"

namespace spillway::cli {

class Ear {
 public:
  // From now on: it is open when this returns. The session outlives it.
  static Result<std::unique_ptr<Ear>> open(Session& session);
  Ear(const Ear&) = delete;
  Ear& operator=(const Ear&) = delete;
  ~Ear();

  // When an event of this kind about this subject arrived, after `since`. Waits for it.
  Result<Moment> heard(const std::string& kind, const std::string& subject, Moment since);

 private:
  struct Heard {
    Moment at;
    std::string kind;
    std::string subject;
  };
  // Shared with the connection's thread.
  struct Notes {
    std::mutex mutex;
    std::condition_variable more;
    std::vector<Heard> all;
  };

  explicit Ear(Session& session) : session_(session) {}

  Session& session_;
  std::shared_ptr<Notes> notes_ = std::make_shared<Notes>();
  std::unique_ptr<wire::EventStream> stream_;  // of the connection's thread
};

}  // namespace spillway::cli
