// A buyer whose needs come and go: queries, holds, confirms, renews, gives back unit by unit;
// forgets, vanishes, and now and then tries what it may not.
#pragma once

#include <map>

#include "sim/party.h"

namespace spillway::sim {

class SimBuyer : public Party {
 public:
  SimBuyer(World& world, Network& network, std::vector<std::unique_ptr<SimBroker>>& brokers,
           Address at, model::Cluster cluster, const std::vector<OfferId>& offers, Laws& laws);

  void begin() override;
  const model::Cluster& cluster() const { return cluster_; }

 private:
  enum class Stage { held, active };

  void act_later();
  void act();
  void hold();
  void on_held(const market::Answer& answer);
  void next_step(const ContractId& contract);
  void keep_up(const ContractId& contract);
  void give_back(const ContractId& contract);
  void trespass();
  void query();
  model::Intent invent_intent();
  void check_ranking(const model::Intent& intent, const rank::Ranking& ranking);

  model::Cluster cluster_;
  const std::vector<OfferId>& offers_;  // of the whole market, also what it may not see
  Laws& laws_;
  std::map<ContractId, Stage> mine_;  // in memory: a crash forgets it
  uint64_t keys_ = 0;                 // on disk: no key is used twice by accident
};

}  // namespace spillway::sim
