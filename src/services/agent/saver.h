// Saver: when a state goes to its store. Changes are saved in batches; whoever needs to know that
// one is safe asks for a flush. One save at a time; one that failed is tried again.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/alarm.h"
#include "host/backoff.h"
#include "host/lifeline.h"
#include "host/loop.h"
#include "host/random.h"
#include "services/agent/agent_state.h"
#include "services/log.h"

namespace spillway::agent {

class Saver {
 public:
  static constexpr Duration k_batch = milliseconds(200);

  struct Calls {
    std::function<std::string()> text;  // of the state as it is now
    std::function<void()> saved;        // the last text is safe
  };
  Saver(host::Loop& loop, host::Random& random, StateStore& store, services::Log& log, Calls calls);

  void touch();                            // changed: saved soon
  void flush(std::function<void()> then);  // calls when all that is there now is safe
  // Why the last save has failed; none: it has not.
  const std::optional<Error>& trouble() const { return trouble_; }

 private:
  void save();
  void on_saved(const Status& status);

  host::Loop& loop_;
  host::Random& random_;
  StateStore& store_;
  services::Log& log_;
  Calls calls_;
  bool is_saving_ = false;
  bool is_dirty_ = false;
  Instant save_at_;
  host::Backoff backoff_;
  std::optional<Error> trouble_;
  std::vector<std::function<void()>> waiting_;  // for the next save
  std::vector<std::function<void()>> saved_;    // by the one that is under way
  host::Alarm alarm_;
  host::Lifeline life_;
};

}  // namespace spillway::agent
