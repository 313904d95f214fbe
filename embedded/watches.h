// Watches: the open streams of changes. Each begins at a version of the past or with what is there
// now, and then sends every change that its filter lets through, in order, until its time is over,
// its reader is too slow, or a fault cuts it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "embedded/ask.h"
#include "embedded/faults.h"
#include "embedded/table.h"
#include "host/lifeline.h"
#include "host/loop.h"
#include "host/random.h"
#include "net/exchange.h"

namespace spillway::embedded {

struct WatchOptions {
  Duration bookmark_every = minutes(1);
  // Without timeoutSeconds a stream ends after this long, or up to twice as long.
  Duration least_timeout = minutes(30);
  size_t most_unsent = size_t{16} << 20;  // bytes; a reader that is further behind is cut off
};

// What an event shows of an object: all of it, or a row of a table.
using Shown = std::function<std::string(const Object&)>;

class Watches {
 public:
  Watches(Table& table, host::Loop& loop, host::Random& random, WatchOptions options);
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;

  struct Opening {
    const Kind* kind = nullptr;
    std::string version;  // of the kind
    Filter filter;
    Shown shown;
    int64_t after = 0;               // changes after this version…
    bool sends_initial = false;      // …or first all that is there now
    bool marks_initial_end = false;  // with a bookmark
    bool wants_bookmarks = false;
    Duration timeout{};  // 0: the server's
    Fault fault;
  };
  void open(Opening opening, std::shared_ptr<net::Stream> stream);

  size_t size() const { return open_.size(); }
  void cut_all();

 private:
  struct Watch {
    Opening opening;
    std::shared_ptr<net::Stream> stream;
    int64_t sent = 0;  // events
    bool is_over = false;
  };
  using Place = std::list<std::shared_ptr<Watch>>;

  void tell(const Change& change);
  void send_initial(Watch& watch);
  void replay(Watch& watch);
  static void offer(Watch& watch, const Change& change);
  static void send_event(Watch& watch, std::string_view type, const Object& object);
  static void send_line(Watch& watch, const std::string& line);
  static void end(Watch& watch);
  void send_bookmark(Watch& watch, bool is_initial_end);
  void mark(Watch& watch);
  int64_t oldest_of(const Kind& kind) const;
  void limit_time(const std::shared_ptr<Watch>& watch);
  void bookmark_later();

  Table& table_;
  host::Loop& loop_;
  host::Random& random_;
  WatchOptions options_;
  Place open_;
  bool is_marking_ = false;
  host::Lifeline lifeline_;
};

// One line of a watch.
std::string event_line(std::string_view type, std::string_view object);

}  // namespace spillway::embedded
