// Caps: how many units may still be had.
//
// Assumptions
//   - nothing is metered yet: what is held counts with its reserved price and declared carbon, from
//     its start, or the window's, to the end of the window; what has ended, to its end, but at
//     least its minimum term. Who holds less in the end has been too careful, never too bold.
//   - windows are the hour, day and month of UTC.
//   - what is held in another currency cannot be counted, so a cap on money then allows nothing.
// Algorithm
//   For each cap: what it leaves, over what one more unit would take from now to the end of the
//   window; the least of them all. A unit that takes nothing is always within.
// Ties
//   Of caps that allow equally many units the first counts: money before carbon, hour before day
//   before month, the cluster's before the class's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rank/option.h"
#include "rank/policy.h"

namespace spillway::rank {

enum class Window : uint8_t { hour, day, month };

struct WindowSpan {
  Instant from;
  Instant to;
};
WindowSpan window_at(Window window, Instant now);

// One cap and what is left of it.
struct Room {
  bool is_money = true;  // else carbon
  Window window = Window::hour;
  std::string scope;      // "cluster", "class batch"
  int64_t cap = 0;        // micro-units, or milligrams
  int64_t used = 0;       // by the end of the window, by what is held
  Duration left;          // of the window
  bool countable = true;  // false: something is held in another currency
};

class CapRooms {
 public:
  CapRooms(const EffectivePolicy& policy, std::span<const Holding> held, Instant now);

  struct Allowed {
    int32_t units = 0;            // at most as many as wanted
    const Room* bound = nullptr;  // the cap that allows no more; null: all that was wanted
  };
  // `unit` is as holding_of makes it; only its rate and its carbon count.
  Allowed allowed(const Holding& unit, int32_t wanted) const;

  // "the cluster's cap of 20 EUR a day leaves 1.2 EUR until 2026-11-17T00:00:00Z, a unit takes
  // 3.4 EUR"
  std::string sentence(const Room& room, const Holding& unit) const;

  std::span<const Room> rooms() const { return rooms_; }

 private:
  void add(const Caps& caps, std::span<const Holding> held, const std::string& workload_class);

  Currency currency_;
  Instant now_;
  std::vector<Room> rooms_;
};

// What a holding takes of a window: micro-units or milligrams.
int64_t taken_by(const Holding& holding, WindowSpan span, bool is_money);

}  // namespace spillway::rank
