#include "host/event_log.h"

#include <algorithm>
#include <utility>

namespace spillway::host {

EventLog::EventLog(Loop& loop, Store& store, EventLogOptions options)
    : loop_(loop), store_(store), options_(options) {}

void EventLog::start() {
  refresh();
  refresh_later();
}

void EventLog::refresh_later() {
  loop_.after(options_.refresh_every, lifeline_.guard([this] {
    refresh();
    refresh_later();
  }));
}

void EventLog::refresh() {
  if (busy_) {
    again_ = true;
    return;
  }
  if (!ready_) return find_beginning();
  busy_ = true;
  again_ = false;
  store_.events_after({last_, options_.page},
                      lifeline_.guard([this](Result<std::vector<market::Event>> events) {
                        busy_ = false;
                        if (!events) {
                          // Whatever else it is, the next round will do.
                          if (events.error().code == Code::gone) find_beginning();
                          return;
                        }
                        for (const market::Event& event : *events) {
                          if (event.sequence == last_ + 1) deliver(event);
                        }
                        if (again_ || events->size() == static_cast<size_t>(options_.page))
                          refresh();
                      }));
}

// The first time after the newest event, later before the oldest that is left.
void EventLog::find_beginning() {
  busy_ = true;
  store_.load({}, lifeline_.guard([this](Result<Snapshot> snapshot) {
    busy_ = false;
    if (!snapshot) return;
    if (!ready_) {
      begin_after(snapshot->last_event);
    } else if (snapshot->first_event > last_ + 1) {
      begin_after(snapshot->first_event - 1);
    }
    refresh();
  }));
}

void EventLog::begin_after(int64_t last) {
  ready_ = true;
  last_ = last;
  kept_.clear();
  for (const JumpListener& listener : jump_listeners_) listener(last_);
}

void EventLog::learn(const Commit& commit, const Committed& committed) {
  if (!ready_ || committed.last_event <= last_) return;
  if (committed.first_event != last_ + 1) return refresh();
  int64_t sequence = committed.first_event;
  for (market::Event event : commit.events) {
    event.sequence = sequence++;
    deliver(std::move(event));
  }
}

void EventLog::deliver(market::Event event) {
  last_ = event.sequence;
  kept_.push_back(std::move(event));
  if (kept_.size() > std::max<size_t>(options_.keep, 1)) kept_.pop_front();
  for (const Listener& listener : listeners_) listener(kept_.back());
}

}  // namespace spillway::host
