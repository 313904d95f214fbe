// A provider: the shipping agent with what is around it in the world. It crashes and starts again
// from its disk; now and then a message of long ago turns up once more. Where its supply comes from
// is its owner's business (owner_provider.h) or its cluster's (cluster_provider.h).
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "services/agent/agent.h"
#include "services/agent/signing.h"
#include "sim/disk.h"
#include "sim/party.h"

namespace spillway::sim {

class SimProvider : public Party {
 public:
  SimProvider(Surroundings& around, Address at, const std::string& name);

  virtual std::vector<OfferId> offer_ids() const = 0;  // all that it ever has
  // When nothing has gone wrong for a while: the agent knows what it carries, and the book what is
  // on sale.
  void check_agent();
  void check_settled() override;

 protected:
  virtual std::optional<agent::Supply> first_supply() = 0;
  virtual void on_agent_started() = 0;
  virtual void on_agent_ending() {}
  virtual void change_something() = 0;
  virtual void check_supply() = 0;  // when all is quiet

  ClusterId id_;
  services::NoLog log_;
  std::unique_ptr<agent::Agent> agent_;

 private:
  void begin() override;
  void end() override;
  void on_certificate() override;
  void start_agent();
  bool has_agent() const override { return true; }
  void chat();
  void hear(const agent::Received& message);
  void change_later();
  void meter_later();
  void meter();
  void watch_request(const net::Request& request);
  void check_report(const net::Request& request);
  void check_carried(const net::Request& request);
  void repeat_old();
  void watch_leases();
  void check_ended(const model::Contract& contract);
  void check_overdue(const model::Contract& contract);

  SimDisk disk_;
  std::map<ContractId, int64_t> heard_;  // the last message, as the agent's state has it
  // Of its meter, a process beside the agent's with the same papers. Null: it does not sign.
  std::unique_ptr<agent::Signing> signing_;
  std::map<ContractId, model::Contract> carried_;  // a second ago
  std::map<std::string, int64_t> reports_;         // the last that was sent, by pool
  std::deque<net::Request> old_;                   // that were sent
  bool repeating_ = false;
};

}  // namespace spillway::sim
