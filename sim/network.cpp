#include "sim/network.h"

namespace spillway::sim {

void Network::send(Address from, Address to, Task deliver) {
  if (is_cut(from, to) || world_.chance(weather_.drop_permille)) return;
  if (world_.chance(weather_.double_permille)) world_.after(delay(), deliver);
  world_.after(delay(), [this, from, to, deliver = std::move(deliver)] {
    if (!is_cut(from, to)) deliver();
  });
}

void Network::carry(Address from, Address to, Task deliver) {
  const auto time = next_delay(from, to);
  if (!time) return;
  world_.after(*time, [this, from, to, deliver = std::move(deliver)] {
    if (!is_cut(from, to)) deliver();
  });
}

std::optional<Duration> Network::next_delay(Address from, Address to) {
  if (is_cut(from, to) || world_.chance(weather_.drop_permille)) return std::nullopt;
  return delay();
}

Duration Network::delay() {
  if (world_.chance(weather_.late_permille)) return world_.between(seconds(1), seconds(10));
  return world_.between(weather_.delay_low, weather_.delay_high);
}

}  // namespace spillway::sim
