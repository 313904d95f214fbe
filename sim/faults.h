// Faults: what goes wrong, how often. Every seed draws its own mixture, so that rare combinations
// come up too; all of it ends before the settling begins.
#pragma once

#include <vector>

#include "sim/party.h"
#include "sim/scenario.h"

namespace spillway::sim {

FaultPlan draw_plan(World& world);

class Faults {
 public:
  Faults(World& world, Network& network, SimStore& store, Address store_at,
         std::vector<std::unique_ptr<SimBroker>>& brokers, std::vector<Party*> parties, Laws& laws,
         FaultPlan plan);

  void begin();
  void stop();  // everything is mended and up again

 private:
  using Deed = void (Faults::*)();
  void repeat(Duration mean, Deed deed);
  void crash_broker();
  void crash_store();
  void revive_store();
  void crash_party();
  void cut_something();
  void isolate_party();
  void lose_store();
  void vanish_later();
  void step_clock();
  void slow_disk();

  World& world_;
  Network& network_;
  SimStore& store_;
  Address store_at_;
  std::vector<std::unique_ptr<SimBroker>>& brokers_;
  std::vector<Party*> parties_;
  Laws& laws_;
  FaultPlan plan_;
  bool stopped_ = false;
};

}  // namespace spillway::sim
