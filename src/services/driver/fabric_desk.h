// FabricDesk: the same face over one agent's own Fabric. Units come from contracts there, so none
// can be ordered; how far they are is shown, and one that was bought can be ended, by the same
// written-down ending that an annotation on its slice causes.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "services/driver/desk.h"
#include "services/fabric/dealings.h"
#include "services/fabric/fabric.h"

namespace spillway::driver {

class FabricDesk final : public Desk {
 public:
  FabricDesk(host::Loop& loop, const agent::Dealings& dealings);

  void attach(agent::Fabric& fabric);  // until detach()
  void detach();                       // it is about to go; before the desk does

  std::optional<UnitDocument> unit(const std::string& name) const override;
  // Of contracts that are over the book tells.
  bool is_forgotten(const std::string&) const override { return false; }
  std::vector<UnitDocument> units(const Which& which) const override;
  void order(const std::string& name, const UnitOrder& order, const MaySee& may_see,
             Then<UnitDocument> then) override;
  void end(const std::string& name, Then<UnitDocument> then) override;
  std::optional<PeeringDocument> peering(const std::string& consumer,
                                         const std::string& provider) const override;
  std::vector<PeeringDocument> peerings(const Which& which) const override;
  void keep(const std::string& consumer, const std::string& provider, const PeeringOrder& order,
            Then<PeeringDocument> then) override;
  void close(const std::string& consumer, const std::string& provider,
             Then<PeeringDocument> then) override;
  EventWindow& events() override { return events_; }

 private:
  void looked(const agent::PeerProgress& progress);
  void take(const agent::PeerProgress& progress, const fabric::UnitProgress& unit);
  void take_peering(const agent::PeerProgress& progress);

  host::Loop& loop_;
  agent::Fabric* fabric_ = nullptr;
  const agent::Dealings& dealings_;
  EventWindow events_;
  std::map<std::string, UnitDocument> units_;
  std::map<std::string, PeeringDocument> peerings_;            // "rome/milan"
  std::map<std::pair<std::string, bool>, std::string> peers_;  // of peer and direction
  host::Lifeline life_;
};

}  // namespace spillway::driver
