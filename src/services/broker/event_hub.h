// EventHub: the open event streams. An event is written down once and goes to those whose business
// it is: its provider, its buyer, operators and viewers; what concerns the whole market to all.
//
// A new stream is first fed with what it missed: from memory, or from the store page by page; then
// it is live. One that does not read is cut, as is one whose certificate has ended. Both come back
// with the sequence that they saw last and miss nothing.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "host/event_log.h"
#include "host/lifeline.h"
#include "net/exchange.h"

namespace spillway::services {

struct Listener {
  std::string name;  // of the identity
  bool hears_all = false;
  Instant not_after;  // of its certificate
};

struct HubOptions {
  Duration heartbeat = seconds(15);
  size_t most_unsent = 256 * 1024;
  int32_t page = 500;
};

bool concerns(const market::Event& event, const Listener& listener);
std::string sse_text(const market::Event& event, bool with_origin);

class EventHub {
 public:
  EventHub(host::Loop& loop, host::Store& store, host::EventLog& log, HubOptions options);
  void start();

  void add(Listener listener, std::shared_ptr<net::Stream> stream, int64_t after);
  size_t streams() const { return streams_.size(); }
  size_t streams_of(const std::string& name) const;
  uint64_t cut_for_slowness() const { return slow_; }
  void close_all();
  void close_expired(Instant now);  // whose certificate has

 private:
  struct Open {
    Listener listener;
    std::shared_ptr<net::Stream> stream;
    int64_t sent = 0;   // the last sequence that was looked at for it
    bool live = false;  // nothing is missing
    uint64_t number = 0;
  };

  void on_event(const market::Event& event);
  void on_jump();
  void feed(uint64_t number);
  void feed_from_store(uint64_t number);
  bool send(Open& open, const market::Event& event, std::string_view text);
  void drop(uint64_t number);
  template <class Which>
  void drop_if(Which which);
  void beat_later();
  void beat();

  host::Loop& loop_;
  host::Store& store_;
  host::EventLog& log_;
  HubOptions options_;
  std::map<uint64_t, Open> streams_;  // oldest first: whoever is told, in the same order
  uint64_t next_number_ = 1;
  uint64_t slow_ = 0;
  host::Lifeline lifeline_;
};

}  // namespace spillway::services
