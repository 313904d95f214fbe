// Alarm: wakes its owner by a given time. A Loop has no cancel, so an alarm may also ring early;
// whoever is woken looks at what is due, and says when it wants to be woken next. Timers run on a
// steady clock: a step of the wall clock makes an alarm ring early, never late.
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "host/lifeline.h"
#include "host/loop.h"

namespace spillway::host {

class Alarm {
 public:
  Alarm(Loop& loop, std::function<void()> ring) : loop_(loop), ring_(std::move(ring)) {}

  void wake_by(Instant time) {
    const Instant now = loop_.now();
    const Instant at = std::max(time, now);
    if (!pending_.empty() && *pending_.begin() <= at) return;
    pending_.insert(at);
    loop_.after(at - now, life_.guard([this, at] {
      pending_.erase(pending_.find(at));
      ring_();
    }));
  }

 private:
  Loop& loop_;
  std::function<void()> ring_;
  std::multiset<Instant> pending_;
  Lifeline life_;
};

}  // namespace spillway::host
