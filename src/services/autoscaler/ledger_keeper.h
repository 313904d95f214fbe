// LedgerKeeper: the ledger in memory, and when it goes to the store. Whoever needs to know that a
// change is safe asks for a flush; other changes are saved in batches.
//
// Groups that nobody uses are not saved: the market tells of them again.
#pragma once

#include <functional>
#include <utility>

#include "demand/ledger.h"
#include "services/agent/saver.h"
#include "services/agent/state_file.h"

namespace spillway::autoscaler {

class LedgerKeeper {
 public:
  LedgerKeeper(host::Loop& loop, host::Random& random, agent::StateStore& store,
               services::Log& log);

  // Fails when what is there cannot be read, or is another cluster's.
  Status load(const ClusterId& cluster);
  demand::Ledger& ledger() { return ledger_; }
  const demand::Ledger& ledger() const { return ledger_; }

  void touch() { saver_.touch(); }  // changed: saved soon
  // Calls when all that is in the ledger now is safe. A failed save is tried again.
  void flush(std::function<void()> then) { saver_.flush(std::move(then)); }
  // Asks up to this generation are safe, and may be sent.
  int64_t saved_generation() const { return saved_generation_; }

 private:
  host::Loop& loop_;
  agent::StateStore& store_;
  demand::Ledger ledger_{demand::LedgerState{}};
  int64_t saving_generation_ = 0;
  int64_t saved_generation_ = 0;
  agent::Saver saver_;
};

// For a file of its own.
agent::StateKind ledger_state();

}  // namespace spillway::autoscaler
