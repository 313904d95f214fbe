// Batch: commands that are decided together and written in one commit.
//
// This is the market's group commit: a hot pool is read and written once for a whole batch, each
// command sees what those before it changed, and one expectation per row guards them all. When a
// commit fails, the batch is decided again from what the store has then; transitions are
// idempotent, so it does not matter whether the failed commit was written after all.
#pragma once

#include <functional>
#include <vector>

#include "host/store.h"
#include "market/book.h"

namespace spillway::host {

using Reply = std::function<void(Result<market::Answer>)>;

struct Order {
  market::Command command;
  Reply reply;
  market::Origin origin = {};
};

class Batch {
 public:
  Batch(std::vector<Order> orders, market::Rules rules);

  // What to load before deciding. Empty: everything is decided.
  Load wants() const;
  // Adds what was loaded and decides, as far as that goes.
  void take(const Load& load, Snapshot snapshot);

  bool changes_nothing() const;
  Commit commit() const;
  // Forgets all that was loaded and decided.
  void restart();

  // Whether it begins with a beat, so that all in it know of an outage. beat_first() restarts it.
  bool beats() const;
  void beat_first();

  void reply_all();  // as decided
  void fail_all(const Error& error);
  std::vector<Order> take_orders() { return std::move(orders_); }  // the batch is over then

  const market::Workspace& workspace() const { return workspace_; }
  size_t size() const { return orders_.size(); }

 private:
  void decide();

  std::vector<Order> orders_;
  std::vector<Result<market::Answer>> answers_;  // to orders_, once nothing is wanted
  market::Rules rules_;
  market::Workspace workspace_;
  Load wants_;
  Instant now_;
};

}  // namespace spillway::host
