// Fabrics: the members whose contracts become nodes, what is between their clusters, and the laws
// on them.
#pragma once

#include <memory>
#include <vector>

#include "sim/fabric_laws.h"

namespace spillway::sim {

class Fabrics {
 public:
  explicit Fabrics(Surroundings& around);

  // A pair, of which the first sells and the second buys; or both do both. Takes four addresses.
  void add_pair(Address first);
  const std::vector<std::unique_ptr<FabricParty>>& parties() const { return parties_; }

  // Means between two faults; zero: none.
  void live(Duration fault_every);
  void calm();
  void check_settled() { laws_.check_settled(); }
  uint64_t nodes() const { return laws_.nodes(); }
  uint64_t begun() const;
  uint64_t excused() const { return laws_.excused(); }
  uint64_t mended() const { return laws_.mended(); }

 private:
  void cut_later(Duration mean);
  void cut();

  World& world_;
  Network& network_;
  Surroundings& around_;
  Roads roads_;
  std::vector<std::unique_ptr<FabricParty>> parties_;
  FabricLaws laws_;
  bool is_calm_ = true;
};

}  // namespace spillway::sim
