// A party: whoever talks to the brokers over the network. It asks one broker, and when no answer
// comes asks another with the very same command, as clients must.
#pragma once

#include <memory>
#include <vector>

#include "sim/broker.h"
#include "sim/network.h"

namespace spillway::sim {

class Party {
 public:
  Party(World& world, Network& network, std::vector<std::unique_ptr<SimBroker>>& brokers,
        Address at)
      : world_(world), process_(world), network_(network), brokers_(brokers), address_(at) {}
  virtual ~Party() = default;
  Party(const Party&) = delete;
  Party& operator=(const Party&) = delete;

  Process& process() { return process_; }
  Address address() const { return address_; }
  void crash() { process_.crash(); }
  void restart() {
    process_.restart();
    begin();
  }
  virtual void begin() = 0;  // after every start; memory is what the derived class kept
  // The day is over: no new business, and nothing is kept up.
  void retire() { retired_ = true; }
  bool is_retired() const { return retired_; }

 protected:
  // Answers once, with the broker's answer or, after `tries`, with unavailable.
  void ask(market::Command command, host::Reply reply, int tries = 8);
  void ask_events(int64_t after, host::Then<std::vector<market::Event>> then);
  void ask_contracts(const ClusterId& provider, host::Then<ContractsSeen> then);

  World& world_;
  Process process_;
  Network& network_;
  std::vector<std::unique_ptr<SimBroker>>& brokers_;

 private:
  SimBroker& any_broker() { return *brokers_[world_.below(brokers_.size())]; }

  Address address_;
  bool retired_ = false;
};

}  // namespace spillway::sim
