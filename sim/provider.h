// A provider: publishes pools and offers, changes its mind about how much it has, carries what was
// sold, and mostly does what it must when it has sold more than it has.
#pragma once

#include <map>

#include "sim/party.h"

namespace spillway::sim {

class SimProvider : public Party {
 public:
  SimProvider(World& world, Network& network, std::vector<std::unique_ptr<SimBroker>>& brokers,
              Address at, ClusterId id, const std::vector<ClusterId>& friends);

  void begin() override;
  const ClusterId& id() const { return id_; }
  const std::vector<model::Offer>& offers() const { return offers_; }

 private:
  struct Carrying {
    int32_t units = 0;
    model::Resources shape;
    PoolId pool;
  };

  void invent(const std::vector<ClusterId>& friends);
  model::Offer invent_offer(const model::Pool& pool, int number,
                            const std::vector<ClusterId>& friends);
  void publish_all();
  void publish(const model::Pool& pool);
  void change_something();
  void follow_events();
  void catch_up();
  void on_event(const market::Event& event);
  void look_at(const ContractId& contract);
  void give_notice_on(const PoolId& pool);

  ClusterId id_;
  std::vector<model::Pool> pools_;
  std::vector<model::Offer> offers_;
  std::map<PoolId, int64_t> sequence_;  // kept on disk: survives a crash
  std::map<OfferId, int64_t> offer_sequence_;
  std::map<ContractId, Carrying> carries_;  // what really runs here: survives a crash
  int64_t last_event_ = 0;
  int64_t epoch_ = 0;  // as heard last; with the next on disk too
  int64_t reports_ = 0;
};

}  // namespace spillway::sim
