// ClusterLife: what happens in a provider's cluster. Its owner's pods come and go, and guests'
// among them; nodes are cordoned, silent, added, removed and moved to another zone, and so to
// another pool; and its API server misbehaves (sim/api_trouble.h).
#pragma once

#include <set>
#include <string>

#include "sim/api_trouble.h"

namespace spillway::sim {

class ClusterLife {
 public:
  // `agent_at` is who may be cut off from it.
  ClusterLife(World& world, Network& network, SimCluster& cluster, Address agent_at);

  // Means between two faults; zero: none.
  void begin(Duration fault_every);
  // No fault and no change any more. What waits for room that is not there is given up.
  void calm();

 private:
  void act_later();
  void act();
  void add_pod();
  void remove_pod();
  void change_node();
  void silence_node();
  void move_node();
  void add_node();
  void remove_node();
  void clear_pending();
  void fail_later(Duration mean);
  embedded::Key any(std::string_view plural);

  World& world_;
  SimCluster& cluster_;
  ApiTrouble trouble_;
  bool is_calm_ = false;
  std::set<std::string> silent_;  // nodes
  int next_pod_ = 1;
  int next_node_ = 1;
};

}  // namespace spillway::sim
