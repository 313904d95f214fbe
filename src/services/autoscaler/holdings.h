// Holdings: the contracts that the ledger's units live on, as the broker tells them; their leases
// are renewed. A unit whose contract ends by the other side's will is failed in the ledger, with
// why: the Cluster Autoscaler then takes it away and looks for another.
//
// A unit whose contract no broker knows is an orphan: it fails when that was so for the grace.
//
// Contracts that others bought for this cluster are not touched: they are not in the ledger. The
// broker's silence ends nothing (law 4), up to the stated point of the contract.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "services/agent/context.h"
#include "services/agent/follower.h"
#include "services/agent/renewals.h"
#include "services/agent/tenancy.h"
#include "services/autoscaler/ledger_keeper.h"

namespace spillway::autoscaler {

class Holdings {
 public:
  struct Calls {
    std::function<void()> changed;  // some units have failed
    // This one of a group is to fail, and why.
    std::function<void(const OfferId&, const demand::HeldUnit&, const demand::Failure&)> lose;
    std::function<void(const ContractId&)> told;  // something happened to it, ours or not yet
  };
  Holdings(agent::Context& context, LedgerKeeper& keeper, Calls calls);

  void start() { follower_.start(); }
  void stop() { follower_.stop(); }
  void reconnect() { follower_.reconnect(); }
  bool is_connected() const { return follower_.is_connected(); }
  Instant step();

  void bought(const model::Contract& contract);                          // the ledger has it
  void put(const model::Contract& contract) { tenancy_.put(contract); }  // as it is by an answer
  const model::Contract* find(const ContractId& id) const;               // live, as last told
  bool is_over(const ContractId& id) const { return over_.contains(id); }

 private:
  std::set<ContractId> in_ledger() const;
  void on_event(const wire::EventBody& event);
  void take_over(const wire::SnapshotAnswer& snapshot);
  void seen(const model::Contract& contract);
  void remember_over(const ContractId& id);
  // Units of it that have not failed and are not being deleted.
  std::vector<std::pair<OfferId, demand::HeldUnit>> counted_on(const ContractId& id) const;
  void unknown(const ContractId& id);
  void lose_all(const ContractId& id, const demand::Failure& failure);
  Instant look_at_orphans();
  Instant end_untold();

  agent::Context& context_;
  LedgerKeeper& keeper_;
  Calls calls_;
  std::set<ContractId> over_;  // closed, and still in the ledger
  struct Orphan {
    Instant until;  // it is waited for the broker to know it again
    Instant look_at;
  };
  std::map<ContractId, Orphan> orphans_;
  agent::Renewals renewals_;
  agent::Tenancy tenancy_;
  agent::Follower follower_;
};

}  // namespace spillway::autoscaler
