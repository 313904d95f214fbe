// A gate before whatever a process does to others: it counts deeds, and at the one that a test
// names it calls out, before that deed has arrived or after it was done and before anybody hears of
// it. So a life can be cut at every deed that it has, without knowing what they are.
#pragma once

#include <functional>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/loop.h"
#include "net/channel.h"

namespace spillway::test {

enum class Moment { before, after };

class DeedGate {
 public:
  enum class Way { passes, is_lost, is_unheard, is_refused };

  // Counts from one, from now on.
  void arm(int deed, Moment moment, std::function<void()> reached) {
    *this = {};
    named_ = deed;
    moment_ = moment;
    reached_ = std::move(reached);
  }
  bool is_reached() const { return deeds_ >= named_; }
  int deeds() const { return deeds_; }
  // Whoever was killed does nothing any more.
  void close() { is_closed_ = true; }
  void open() { is_closed_ = false; }

  std::function<bool(const net::Request&)> refuses = {};  // as whoever lacks the right

  Way note(const net::Request& request) {
    if (is_closed_) return Way::is_lost;
    if (refuses && refuses(request)) return Way::is_refused;
    if (request.method == "GET" || ++deeds_ != named_) return Way::passes;
    reached_();
    return moment_ == Moment::before ? Way::is_lost : Way::is_unheard;
  }

 private:
  int named_ = 1 << 30;
  int deeds_ = 0;
  bool is_closed_ = false;
  Moment moment_ = Moment::before;
  std::function<void()> reached_ = {};
};

// What does not come through is told as a connection that broke, which nobody hears who was killed.
class GatedChannel final : public net::Channel {
 public:
  GatedChannel(host::Loop& loop, net::Channel& to, DeedGate& gate)
      : loop_(loop), to_(to), gate_(gate) {}

  void send(net::Request request, net::OnResponse then) override {
    const DeedGate::Way way = gate_.note(request);
    if (way == DeedGate::Way::passes) return to_.send(std::move(request), std::move(then));
    if (way == DeedGate::Way::is_refused) {
      return loop_.post([then = std::move(then)] { then(net::Response{403, {}, {}}); });
    }
    if (way == DeedGate::Way::is_unheard) to_.send(std::move(request), [](const auto&) {});
    loop_.post([then = std::move(then)] {
      then(fail(Code::unavailable, "connection", "it broke", "try again"));
    });
  }
  std::unique_ptr<net::Reading> open(net::Request request, net::StreamCalls calls) override {
    return to_.open(std::move(request), std::move(calls));
  }

 private:
  host::Loop& loop_;
  net::Channel& to_;
  DeedGate& gate_;
};

// Until a life has been lived that has no such deed. `arm(deed, moment)` arms the gate.
template <class Arm, class Life>
void cut_every_life(const char* who, const DeedGate& gate, Arm arm, Life life) {
  constexpr int k_fewest = 8;  // fewer, and the gate stands at no door
  for (const Moment moment : {Moment::before, Moment::after}) {
    int deed = 1;
    for (bool has_any = true; has_any; ++deed) {
      SCOPED_TRACE(fmt::format("{} at deed {}, {} it", who, deed,
                               moment == Moment::before ? "before" : "after"));
      arm(deed, moment);
      life();
      has_any = gate.is_reached();
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(deed, k_fewest) << who;
  }
}

}  // namespace spillway::test
