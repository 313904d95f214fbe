// A broker in the simulation: the shipping Api with all that stands behind it, on a connection to
// the simulated store and behind the simulated network. A crash forgets everything; a restart
// begins with what the store has.
//
// What services/broker/broker.cpp wires up with sockets is wired up here without them.
#pragma once

#include <map>
#include <memory>

#include "services/broker/api.h"
#include "services/broker/event_hub.h"
#include "sim/issuer.h"
#include "sim/laws.h"
#include "sim/sim_store.h"
#include "sim/wire.h"

namespace spillway::sim {

class SimBroker : public Door {
 public:
  SimBroker(World& world, Network& network, SimStore& store, Address store_at, Address at,
            Laws& laws, host::BookOptions options);
  ~SimBroker() override;

  void crash();
  void restart();
  // As `spillway broker init` does: somebody has to be the first.
  void set_up(const std::string& operator_name, const std::string& key);
  // Null while it is down.
  const host::Directory* directory() const;
  size_t streams() const;

  Address address() const override { return address_; }
  Process& process() override { return process_; }
  std::weak_ptr<const bool> alive() const override { return alive_; }
  void arrive(const std::shared_ptr<Asked>& asked,
              std::shared_ptr<net::Exchange> exchange) override;
  // Answers are checked against the laws before they leave.
  void leaves(const Asked& asked, const net::Response& response) override;
  void begins(const std::shared_ptr<Pipe>& pipe) override;
  void tells(Hearing& hearing, std::string_view bytes) override;
  void dropped(const Asked& asked) override;

 private:
  struct Running;

  void follow_log();
  void look_after_certificates();
  bool knows_revoked(const std::string& name);

  Process process_;
  Address address_;
  StoreConnection connection_;
  Laws& laws_;
  host::BookOptions options_;
  std::unique_ptr<Running> running_;
  std::shared_ptr<const bool> alive_;
  OpenPipes pipes_;
  Instant since_;                                // of this life
  int64_t last_heard_ = 0;                       // of the log
  std::map<std::string, Instant> revoked_here_;  // as this broker has told somebody
};

}  // namespace spillway::sim
