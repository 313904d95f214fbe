// DriverDealings: a Fabric's contracts as a driver has them: orders of its operator, who has both
// clusters. There is nobody to sign for, and no relay: what one Fabric says is handed to the other
// on the loop, and is still bound to its contract and its direction, and held against the part.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "host/lifeline.h"
#include "host/loop.h"
#include "services/driver/driver_state.h"
#include "services/fabric/dealings.h"

namespace spillway::driver {

// What all clusters of one driver have in common.
struct OrderBook {
  DriverState state = {};
  // Made of the state whenever it changes (services/driver/orders.h).
  std::map<ContractId, model::Contract> contracts = {};
  std::map<ContractId, std::vector<int32_t>> purchases = {};
  std::map<ContractId, model::LiqoPart> parts = {};  // of those whose clusters' Liqos are known
};

class DriverDealings final : public agent::Dealings {
 public:
  struct Calls {
    std::function<void()> touch;
    std::function<void(std::function<void()>)> flush;
    std::function<void(const std::string& cluster, const fabric::Say&)> hand_over;
    std::function<std::set<ClusterId>()> clusters;  // of this driver
  };
  DriverDealings(host::Loop& loop, OrderBook& book, std::string cluster, Calls calls)
      : loop_(loop), book_(book), cluster_(std::move(cluster)), calls_(std::move(calls)) {}

  void look();  // the book has changed
  void deliver(const fabric::Say& said);

  const std::map<ContractId, model::Contract>& contracts() const override { return contracts_; }
  bool is_bought(const model::Contract& contract) const override {
    return contract.buyer.text == cluster_;
  }
  const model::LiqoPart* part(const ContractId& contract) const override;
  const std::vector<int32_t>* purchased(const ContractId& contract) const override;
  void find_offer(const model::Contract& contract,
                  std::function<void(const Result<model::Offer>&)> then) override;
  void dress(fabric::Purchase& purchase) const override;
  bool gives_back() const override { return true; }
  void read_pins(std::function<void(const Result<std::set<ClusterId>>&)> then) override;

  agent::FabricState& state() override { return book_.state.fabrics[cluster_]; }
  void touch() override { calls_.touch(); }
  void flush(std::function<void()> then) override { calls_.flush(std::move(then)); }

  Status say(const fabric::Say& said) override;
  void hear(const std::string& step, Hear hear) override { hears_[step] = std::move(hear); }

 private:
  host::Loop& loop_;
  OrderBook& book_;
  std::string cluster_;
  Calls calls_;
  std::map<ContractId, model::Contract> contracts_;  // of this cluster
  std::map<std::string, Hear> hears_;
  host::Lifeline life_;
};

}  // namespace spillway::driver
