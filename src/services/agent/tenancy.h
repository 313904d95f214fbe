// Tenancy: the contracts of an agent, sold and bought, as the broker last told them.
//
// An event only says that a contract has changed: the contract itself is asked for, until an answer
// comes. What a provider carries are the contracts that have begun and not ended. One that the
// broker has never heard of (it may have come back from a backup) is carried on until its lease,
// its grace and its drain are over: somebody's work may run on it, and what we say we carry is not
// sold again.
//
// A broker that says nothing ends nothing (law 4), up to the stated point of each contract
// (market/outage.h): what is asked about and not told of until then is ended here. It is an orphan,
// as is one that no broker knows.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "host/lifeline.h"
#include "market/commands.h"
#include "services/agent/context.h"

namespace spillway::agent {

class Tenancy {
 public:
  struct Calls {
    std::function<void(const PoolId&)> carries_changed;
    std::function<void()> sold_changed;  // holds too: they count as sold until they have ended
    std::function<void(const model::Contract&)> seen;  // as it is now; also the last time
    std::function<void(const ContractId&)> ending;     // its lease, which was not renewed
    // Neither we nor the broker know it.
    std::function<void(const ContractId&)> unknown = [](const ContractId&) {};
  };
  Tenancy(Context& context, Calls calls) : context_(context), calls_(std::move(calls)) {}

  void start();  // what the state knows of
  void on_event(const wire::EventBody& event);
  void take_over(const wire::SnapshotAnswer& snapshot);
  void put(const model::Contract& contract);  // as somebody was answered
  void look_at(const ContractId& id, int64_t sequence = INT64_MAX);

  std::vector<market::Carried> carries(const PoolId& pool) const;
  std::vector<const model::Contract*> sold_from(const PoolId& pool) const;
  bool is_looking() const { return !looks_.empty(); }
  // All events up to this one have left their trace in the state, if `heard` was the last.
  int64_t settled_through(int64_t heard) const;
  int64_t sold() const;
  int64_t bought() const;
  int64_t orphans_found() const { return orphans_found_; }  // since the start
  int64_t orphans_ended() const { return orphans_ended_; }
  Instant step();

 private:
  struct Look {
    int64_t since = INT64_MAX;  // the first event that made us look
    bool again = false;         // another, or a newer answer, came while we asked
    bool is_unanswered = false;
    Attempt attempt;
  };

  bool is_ours(const model::Contract& contract) const;
  void take(const model::Contract& contract);
  void drop(const ContractId& id, model::EndReason reason);
  void ask(const ContractId& id, Look& look);
  void on_answer(const ContractId& id, const Result<wire::ContractAnswer>& answer);
  void on_unknown(const ContractId& id);
  Instant look_at_overdue();
  Instant end_unheard();
  void end_here(const ContractId& id, std::string_view why);

  Context& context_;
  Calls calls_;
  std::map<ContractId, Look> looks_;
  std::map<ContractId, Instant> looked_;  // at overdue ones, when
  std::set<ContractId> orphans_;          // that were found and have not ended yet
  int64_t orphans_found_ = 0;
  int64_t orphans_ended_ = 0;
  uint64_t turn_ = 0;  // answers from before a snapshot are older than it
  int in_flight_ = 0;
  host::Lifeline life_;
};

}  // namespace spillway::agent
