// EventLog: the log of events as this process follows it. Every event once, in order, to all who
// listen; the newest are kept in memory for those who come later or were slow.
//
// What this process commits itself is delivered at once, without reading the store, when it follows
// what was delivered before. Other brokers' events are read: every `refresh_every`, and as soon as
// a commit of ours shows that there are some.
//
// It begins after the store's newest event at the start. When the store has forgotten what would
// have to come next, it jumps to the oldest that is kept; who builds a state on events hears of
// both, and loads it again.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <type_traits>
#include <vector>

#include "host/lifeline.h"
#include "host/loop.h"
#include "host/store.h"

namespace spillway::host {

struct EventLogOptions {
  Duration refresh_every = seconds(1);
  size_t keep = 16'384;  // events in memory
  int32_t page = 1000;   // events read at a time
};

class EventLog {
 public:
  using Listener = std::function<void(const market::Event&)>;
  using JumpListener = std::function<void(int64_t last)>;

  EventLog(Loop& loop, Store& store, EventLogOptions options = {});
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  void start();
  // For BookHost::listen.
  void learn(const Commit& commit, const Committed& committed);

  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }
  // Called with last() when the log begins, and when it had to leave events out: the next event is
  // the one after it.
  void on_jump(JumpListener listener) { jump_listeners_.push_back(std::move(listener)); }

  bool is_ready() const { return ready_; }  // it knows where it begins
  int64_t last() const { return last_; }    // sequence of the newest that was delivered
  // Sequence of the oldest in memory; last() + 1 when there is none.
  int64_t first_kept() const { return last_ + 1 - static_cast<int64_t>(kept_.size()); }

  // Events after `sequence` that are in memory, oldest first; `f` may answer false for enough.
  // False, and nothing: not all of them are.
  template <class F>
  bool for_each_after(int64_t sequence, F f) const {
    if (!ready_ || sequence + 1 < first_kept()) return false;
    for (auto i = static_cast<size_t>(sequence + 1 - first_kept()); i < kept_.size(); ++i) {
      if constexpr (std::is_void_v<std::invoke_result_t<F&, const market::Event&>>) {
        f(kept_[i]);
      } else if (!f(kept_[i])) {
        break;
      }
    }
    return true;
  }

 private:
  void refresh_later();
  void refresh();
  void find_beginning();
  void begin_after(int64_t last);
  void deliver(market::Event event);

  Loop& loop_;
  Store& store_;
  EventLogOptions options_;
  std::vector<Listener> listeners_;
  std::vector<JumpListener> jump_listeners_;
  std::deque<market::Event> kept_;
  int64_t last_ = 0;
  bool ready_ = false;
  bool busy_ = false;
  bool again_ = false;  // somebody wants a refresh while one is on its way
  Lifeline lifeline_;
};

}  // namespace spillway::host
