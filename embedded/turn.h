// Turn: work that is done in the loop's next turn, once, however often it was asked for until then:
// how controllers answer to changes without running within them.
#pragma once

#include <functional>
#include <utility>

#include "host/lifeline.h"
#include "host/loop.h"

namespace spillway::embedded {

class Turn {
 public:
  Turn(host::Loop& loop, std::function<void()> work) : loop_(loop), work_(std::move(work)) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void soon() {
    if (is_asked_) return;
    is_asked_ = true;
    loop_.post(lifeline_.guard([this] { run(); }));
  }
  // In any case by then; asked for sooner, it comes sooner, too.
  void after(Duration delay) {
    loop_.after(delay, lifeline_.guard([this] { soon(); }));
  }

 private:
  void run() {
    is_asked_ = false;
    work_();
  }

  host::Loop& loop_;
  std::function<void()> work_;
  bool is_asked_ = false;
  host::Lifeline lifeline_;
};

}  // namespace spillway::embedded
