#include "sim/world.h"

#include <algorithm>

namespace spillway::sim {

World::World(uint64_t seed) : random_(seed) {}

bool World::later(const Event& a, const Event& b) {
  return std::tie(b.at, b.order) < std::tie(a.at, a.order);
}

// What is due already is due now: time does not go back.
void World::after(Duration delay, Task task) {
  heap_.push_back({now_ + std::max(delay, Duration{}), next_order_++, std::move(task)});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

bool World::step() {
  if (heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  Event event = std::move(heap_.back());
  heap_.pop_back();
  now_ = event.at;
  ++steps_;
  trace_.add(now_.ms);
  event.task();
  return true;
}

Duration World::between(Duration low, Duration high) {
  return low +
         milliseconds(static_cast<int64_t>(below(static_cast<uint64_t>(high.ms - low.ms + 1))));
}

void Process::after(Duration delay, Task task) {
  world_.after(delay, [this, life = life_, task = std::move(task)] {
    if (up_ && life_ == life) task();
  });
}

void Process::crash() {
  up_ = false;
  ++life_;
}

}  // namespace spillway::sim
