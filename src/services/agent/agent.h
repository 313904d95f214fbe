// Agent: a cluster's part in the federation, seller and buyer at once. It calls out and is never
// called. Everything that it does follows from what is wanted, what the broker has taken and what
// the broker tells, so it can be killed at any time and goes on from its last saved state.
//
// It has no thread, no file, no clock of its own: the same class runs in a service and in sim/.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/lifeline.h"
#include "services/agent/agent_dealings.h"
#include "services/agent/agreements.h"
#include "services/agent/context.h"
#include "services/agent/follower.h"
#include "services/agent/messages.h"
#include "services/agent/notice_giver.h"
#include "services/agent/publisher.h"
#include "services/agent/renewals.h"
#include "services/agent/tenancy.h"
#include "services/agent/untold.h"
#include "services/fabric/fabric.h"
#include "services/fabric/guard_sight.h"
#include "supply/sold.h"

namespace spillway::agent {

struct AgentStatus {
  bool connected = false;
  int64_t last_event = -1;
  Instant heard;  // the broker's last word
  int64_t epoch = 0;
  int64_t pools_published = 0;
  int64_t offers_published = 0;
  int64_t contracts_sold = 0;
  int64_t contracts_bought = 0;
  int64_t agreements_signed = 0;    // as their provider, since the start
  int64_t agreements_refused = 0;   // likewise
  int64_t agreements_disputed = 0;  // now
  int64_t orphans_found = 0;        // contracts that the broker does not know, or says nothing of
  int64_t orphans_ended = 0;        // of these, at their stated point
  MailboxCounts messages = {};      // since the start
  std::string last_error;
};

class Agent {
 public:
  Agent(host::Loop& loop, host::Random& random, net::Channel& channel, StateStore& store,
        services::Log& log, AgentOptions options);

  // Once. Without a supply, the last one goes on: a file that cannot be read withdraws nothing.
  Status start(std::optional<Supply> supply);
  void set_supply(Supply supply);  // valid, and the cluster's own
  void credentials_changed();      // whoever was turned away tries again now
  // Closes the stream, saves, and calls when that is done. Nothing is withdrawn.
  void stop(std::function<void()> done);

  // The pools that contracts live on, as they were last published.
  std::vector<supply::Sold> sold() const;
  // Called when that has changed.
  void when_sold_changes(std::function<void()> call) { sold_changed_ = std::move(call); }
  // Makes contracts real in the cluster from now on. After start(); `api` outlives it.
  void start_fabric(kube::Api& api, FabricOptions options);
  void stop_fabric();  // contracts stay as they are; it may be started again
  // Who this cluster is to Liqo: others learn it from its card.
  void know_liqo(const LiqoHome& self);
  Fabric* fabric() { return fabric_ ? &*fabric_ : nullptr; }  // null: it is not started
  const Fabric* fabric() const { return fabric_ ? &*fabric_ : nullptr; }
  const Dealings& dealings() const { return dealings_; }
  // To and from the other parties of contracts that both have signed.
  Messages& messages() { return messages_; }
  AgentStatus status() const;
  const AgentState& state() const { return keeper_.state(); }

 private:
  void step();
  void begin_selling();
  void on_event(const wire::EventBody& event);
  void take_over(const wire::SnapshotAnswer& snapshot);
  void resync();
  void resync_later();
  void contracts_changed();
  void know_enforcement(model::Enforcement enforcement);

  host::Loop& loop_;
  StateKeeper keeper_;
  host::Alarm alarm_;
  std::optional<Signing> signing_;
  Context context_;
  Messages messages_;
  Agreements agreements_;
  Renewals renewals_;
  Tenancy tenancy_;
  Untold untold_;
  NoticeGiver notices_;
  Publisher publisher_;
  Follower follower_;
  AgentDealings dealings_;
  std::optional<Fabric> fabric_;     // none: contracts stay on paper
  std::optional<GuardSight> guard_;  // with it
  model::Enforcement enforcement_ = model::Enforcement::unknown;
  std::function<void()> sold_changed_ = [] {};
  bool is_supply_known_ = false;
  bool selling_ = false;  // not before the broker's numbers are known
  bool stopped_ = false;
  bool resyncing_ = false;
  host::Backoff resync_backoff_;
  host::Lifeline life_;
};

}  // namespace spillway::agent
