// World: one virtual clock, one queue of things to come, one seed. Everything that happens in a
// simulation happens in step(), one thing at a time, in an order that the seed alone decides.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/digest.h"
#include "base/time.h"
#include "host/loop.h"
#include "host/random.h"

namespace spillway::sim {

using host::Task;

class World {
 public:
  explicit World(uint64_t seed);

  Instant now() const { return now_; }
  void after(Duration delay, Task task);
  // Runs the next thing. False: there is none.
  bool step();
  uint64_t steps() const { return steps_; }

  host::SeededRandom& random() { return random_; }
  uint64_t below(uint64_t bound) { return host::below(random_, bound); }
  bool chance(uint64_t permille) { return below(1000) < permille; }
  // Between the two, evenly.
  Duration between(Duration low, Duration high);

  // The trace: what happened, folded into one number. Same seed, same hash (law 8).
  void note(std::string_view what, int64_t number = 0) { trace_.add(what).add(number); }
  Fingerprint trace() const { return trace_.value(); }

 private:
  struct Event {
    Instant at;
    uint64_t order;
    Task task;
  };
  static bool later(const Event& a, const Event& b);

  Instant now_{1'767'225'600'000};  // 2026-01-01T00:00:00Z: any date does
  uint64_t next_order_ = 0;
  uint64_t steps_ = 0;
  std::vector<Event> heap_;
  host::SeededRandom random_;
  Digest trace_;
};

// A process of the world: its own view of the clock, and a life that can end. What it had planned
// dies with it.
class Process : public host::Loop {
 public:
  explicit Process(World& world) : world_(world) {}

  Instant now() override { return world_.now() + skew_; }
  void post(Task task) override { after({}, std::move(task)); }
  void after(Duration delay, Task task) override;

  void set_skew(Duration skew) { skew_ = skew; }
  bool is_up() const { return up_; }
  uint64_t life() const { return life_; }  // differs after every crash
  void crash();
  void restart() { up_ = true; }

  World& world() { return world_; }

 private:
  World& world_;
  Duration skew_;
  bool up_ = true;
  uint64_t life_ = 1;
};

}  // namespace spillway::sim
