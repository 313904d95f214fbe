// A provider: the shipping agent with what is around it in the world. Its owner invents a supply
// and changes his mind about it; it crashes and starts again from its disk; now and then a message
// of long ago turns up once more.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "services/agent/agent.h"
#include "sim/disk.h"
#include "sim/party.h"

namespace spillway::sim {

class SimProvider : public Party {
 public:
  SimProvider(Surroundings& around, Address at, const std::string& name,
              const std::vector<ClusterId>& friends);

  const std::vector<model::Offer>& offers() const { return offers_; }  // all that it ever has
  // When nothing has gone wrong for a while: the agent knows what it carries, and the book what is
  // on sale.
  void check_agent();
  void check_settled() override;

 private:
  void begin() override;
  void end() override;
  void on_certificate() override;
  void start_agent();
  void invent(const std::vector<ClusterId>& friends);
  model::Offer invent_offer(const model::Pool& pool, int number,
                            const std::vector<ClusterId>& friends);
  void change_later();
  void change_something();
  agent::Supply supply() const;
  void watch_request(const net::Request& request);
  void check_report(const net::Request& request);
  void check_carried(const net::Request& request);
  void repeat_old();

  ClusterId id_;
  // What the owner has written down.
  std::vector<model::Pool> pools_;
  std::vector<model::Offer> offers_;
  std::set<PoolId> pools_off_;
  std::set<OfferId> offers_off_;
  SimDisk disk_;
  services::NoLog log_;
  std::unique_ptr<agent::Agent> agent_;
  std::map<std::string, int64_t> reports_;  // the last that was sent, by pool
  std::deque<net::Request> old_;            // that were sent
  bool repeating_ = false;
};

}  // namespace spillway::sim
