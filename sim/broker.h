// A broker in the simulation: the shipping BookHost and CatalogueFeed on a connection to the
// simulated store. A crash forgets everything; a restart begins with what the store has.
#pragma once

#include <memory>

#include "host/book_host.h"
#include "host/catalogue_feed.h"
#include "sim/laws.h"
#include "sim/sim_store.h"

namespace spillway::sim {

class SimBroker {
 public:
  SimBroker(World& world, Network& network, SimStore& store, Address store_at, Address at,
            Laws& laws, host::BookOptions options);

  Address address() const { return address_; }
  Process& process() { return process_; }
  void crash();
  void restart();

  // What arrives from the network. Answers are checked against the laws before they leave.
  void handle(const market::Command& command, const host::Reply& reply);
  void events_after(int64_t sequence, const host::Then<std::vector<market::Event>>& then);
  // Null while it is down.
  const host::CatalogueFeed* feed() const { return feed_.get(); }

 private:
  Process process_;
  Address address_;
  StoreConnection connection_;
  Laws& laws_;
  host::BookOptions options_;
  std::unique_ptr<host::BookHost> host_;
  std::unique_ptr<host::CatalogueFeed> feed_;
};

}  // namespace spillway::sim
