// Follower: the event stream, for as long as the agent runs. It begins where the last one ended,
// comes back with growing waits, and takes over a snapshot when the log no longer has what was
// missed. A broker that is away changes nothing (law 4).
#pragma once

#include <functional>
#include <memory>

#include "host/lifeline.h"
#include "services/agent/context.h"

namespace spillway::agent {

class Follower {
 public:
  static constexpr Duration k_settled = seconds(10);  // a stream that lived so long was no accident

  struct Calls {
    std::function<void(const wire::EventBody&)> on_event;  // in order, each once
    std::function<void(const wire::SnapshotAnswer&)> on_snapshot;
    std::function<void()> on_open;
  };
  Follower(Context& context, Calls calls) : context_(context), calls_(std::move(calls)) {}

  void start();      // after the state's last event
  void reconnect();  // now: there are other credentials
  void stop();
  bool is_connected() const { return connected_; }
  int64_t last_seen() const { return last_seen_; }

 private:
  void begin();
  void take(const wire::SnapshotAnswer& snapshot);
  void on_event(const wire::EventBody& event);
  void on_end(const Error& why);
  void begin_later(Duration wait);

  Context& context_;
  Calls calls_;
  int64_t last_seen_ = -1;
  uint64_t turn_ = 0;  // what an earlier stream or timer still says is not heard
  bool connected_ = false;
  bool told_ = false;  // that the broker is away
  Instant opened_;
  host::Backoff backoff_;
  std::unique_ptr<wire::EventStream> stream_;
  host::Lifeline life_;
};

}  // namespace spillway::agent
