// LedgerKeeper: the ledger in memory, and when it goes to the store. Whoever needs to know that a
// change is safe asks for a flush; other changes are saved in batches.
//
// Groups that nobody uses are not saved: the market tells of them again.
#pragma once

#include <functional>
#include <vector>

#include "demand/ledger.h"
#include "host/alarm.h"
#include "host/backoff.h"
#include "host/lifeline.h"
#include "host/loop.h"
#include "host/random.h"
#include "services/agent/agent_state.h"
#include "services/agent/state_file.h"
#include "services/log.h"

namespace spillway::autoscaler {

class LedgerKeeper {
 public:
  static constexpr Duration k_batch = milliseconds(200);

  LedgerKeeper(host::Loop& loop, host::Random& random, agent::StateStore& store,
               services::Log& log);

  // Fails when what is there cannot be read, or is another cluster's.
  Status load(const ClusterId& cluster);
  demand::Ledger& ledger() { return ledger_; }
  const demand::Ledger& ledger() const { return ledger_; }

  void touch();  // changed: saved soon
  // Calls when all that is in the ledger now is safe. A failed save is tried again.
  void flush(std::function<void()> then);
  // Asks up to this generation are safe, and may be sent.
  int64_t saved_generation() const { return saved_generation_; }

 private:
  void save();
  void on_saved(const Status& status, int64_t generation);

  host::Loop& loop_;
  host::Random& random_;
  agent::StateStore& store_;
  services::Log& log_;
  demand::Ledger ledger_{demand::LedgerState{}};
  int64_t saved_generation_ = 0;
  bool is_saving_ = false;
  bool is_dirty_ = false;
  Instant save_at_;
  host::Backoff backoff_;
  std::vector<std::function<void()>> waiting_;  // for the next save
  std::vector<std::function<void()>> saved_;    // by the one that is under way
  host::Alarm alarm_;
  host::Lifeline life_;
};

// For a file of its own.
agent::StateKind ledger_state();

}  // namespace spillway::autoscaler
