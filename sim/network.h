// The network between the parties: messages may be lost, late, doubled and out of order, and two
// parties may be cut off from each other.
#pragma once

#include <optional>
#include <set>
#include <utility>

#include "sim/world.h"

namespace spillway::sim {

// Messages of a party are addressed by number.
using Address = int;

struct Weather {
  uint64_t drop_permille = 0;
  uint64_t double_permille = 0;
  Duration delay_low = milliseconds(1);
  Duration delay_high = milliseconds(20);
  uint64_t late_permille = 0;  // a message now and then takes up to 10 s
};

class Network {
 public:
  explicit Network(World& world) : world_(world) {}

  void set_weather(const Weather& weather) { weather_ = weather; }
  bool is_fair() const { return weather_.drop_permille == 0; }
  void cut(Address a, Address b) { cuts_.insert(std::minmax(a, b)); }
  void mend(Address a, Address b) { cuts_.erase(std::minmax(a, b)); }
  void mend_all() { cuts_.clear(); }
  bool is_cut(Address a, Address b) const { return cuts_.contains(std::minmax(a, b)); }

  // Runs `deliver` at the other end, once, twice or never. It has to see for itself whether the
  // receiver is up.
  void send(Address from, Address to, Task deliver);
  // Once or never: what travels over a connection does not come twice.
  void carry(Address from, Address to, Task deliver);
  // How long the next message takes; none: it is lost. For those who keep an order themselves.
  std::optional<Duration> next_delay(Address from, Address to);

 private:
  Duration delay();

  World& world_;
  Weather weather_;
  std::set<std::pair<Address, Address>> cuts_;
};

}  // namespace spillway::sim
