// A broker in the simulation: the shipping BookHost, CatalogueFeed, EventLog and Directory on a
// connection to the simulated store. A crash forgets everything; a restart begins with what the
// store has.
#pragma once

#include <memory>

#include "host/book_host.h"
#include "host/catalogue_feed.h"
#include "host/directory.h"
#include "host/event_log.h"
#include "sim/laws.h"
#include "sim/sim_store.h"

namespace spillway::sim {

// A provider's live contracts, and the event up to which that was looked at.
struct ContractsSeen {
  int64_t last_event = 0;
  std::vector<ContractId> contracts;
};

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
  // For those who have missed events that are forgotten.
  void contracts_of(const ClusterId& provider, const host::Then<ContractsSeen>& then);
  // Null while it is down.
  const host::CatalogueFeed* feed() const { return feed_.get(); }
  const host::Directory* directory() const { return directory_.get(); }

 private:
  void follow_log();
  void check_answer(const market::Command& command, const Result<market::Answer>& answer);

  Process process_;
  Address address_;
  StoreConnection connection_;
  Laws& laws_;
  host::BookOptions options_;
  std::unique_ptr<host::BookHost> host_;
  std::unique_ptr<host::CatalogueFeed> feed_;
  std::unique_ptr<host::EventLog> log_;
  std::unique_ptr<host::Directory> directory_;
  int64_t last_heard_ = 0;
};

}  // namespace spillway::sim
