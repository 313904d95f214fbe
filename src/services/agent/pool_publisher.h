// PoolPublisher: sees to it that the broker knows of every pool on sale, that its lease does not
// run out, and, in each epoch, what it carries (law 4).
//
// Level-triggered: what is wanted is compared with what the broker has taken, and the difference
// sent until there is none. A pool that is no longer wanted is withdrawn once its offers are.
//
// First what shrinks, then what grows: a node that goes from one pool to another must not be on
// sale in both for a moment. So nothing grows while the broker has not taken every shrinking, a
// withdrawal included. One that does both (more cores, less memory) waits for those that only
// shrink, and keeps those that only grow waiting: so there is always one that may go.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "host/lifeline.h"
#include "market/commands.h"
#include "services/agent/context.h"

namespace spillway::agent {

class PoolPublisher {
 public:
  struct Calls {
    std::function<std::vector<market::Carried>(const PoolId&)> carries;
    std::function<bool(const PoolId&)> has_offers;  // that are not withdrawn yet
    std::function<void(const PoolId&)> settled;     // taken, withdrawn or refused
    std::function<void()> wants_snapshot;           // our numbers are behind the broker's
  };
  PoolPublisher(Context& context, Calls calls);

  void want(const std::vector<model::Pool>& pools);
  void carries_changed(const PoolId& pool);
  void confirm_all();  // an epoch has begun, perhaps
  void hurry();        // the broker is back: what waits to be tried again need not
  void take_over(const wire::SnapshotAnswer& snapshot);
  // True once the broker has said anything about its present content.
  bool is_settled(const PoolId& pool) const;
  int64_t published() const;
  Instant step();  // sends what is due; when the next is

 private:
  struct Sale {
    Attempt attempt;
    bool wanted = false;
    bool again = false;      // something changed while a message was under way
    bool refused = false;    // its present content
    int64_t confirmed = -1;  // the epoch in which what it carries was taken note of
    int surprises = 0;       // epochs heard in a row that were not the one sent
    int stale = 0;
    Instant sent;  // may be heard for k_under_way from then on
  };

  // Of messages that the broker has not taken.
  struct Pending {
    bool shrinks = false;  // some pool, without growing
    bool mixed = false;    // some pool, in one resource, and grows in another
  };
  Pending pending() const;
  bool must_wait(const PoolMemory& memory, const Pending& pending) const;

  void change(const PoolId& id, const model::Pool* wanted);
  void send(const PoolId& id, Sale& sale);
  bool put(const PoolId& id, Sale& sale, PoolMemory& memory);
  void withdraw(const PoolId& id, const PoolMemory& memory);
  void finish(Sale& sale);
  void on_put(const PoolId& id, int64_t sequence, int64_t epoch,
              const Result<wire::PoolPutAnswer>& answer);
  void on_withdrawn(const PoolId& id, int64_t sequence, const Status& status);
  void on_failed(const PoolId& id, Sale& sale, const Error& error);
  void hear_epoch(int64_t epoch);
  bool has_work(const PoolId& id, const Sale& sale) const;
  void soon(Sale& sale, Duration delay = k_coalesce);

  Context& context_;
  Calls calls_;
  std::map<PoolId, Sale> sales_;
  int in_flight_ = 0;
  host::Lifeline life_;
};

}  // namespace spillway::agent
