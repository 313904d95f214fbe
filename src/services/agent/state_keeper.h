// StateKeeper: the agent's state in memory, and when it goes to the store. Changes are saved in
// batches; whoever needs to know that one is safe asks for a flush. Report numbers are set aside on
// disk in blocks before the first of them is used, so that most publications write nothing.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "services/agent/agent_state.h"
#include "services/agent/saver.h"

namespace spillway::agent {

class StateKeeper {
 public:
  static constexpr int64_t k_block = 1000;

  // `before_save` brings the state up to date; `ready` is called when report numbers are to be had
  // again.
  StateKeeper(host::Loop& loop, host::Random& random, StateStore& store, services::Log& log,
              std::function<void()> before_save, std::function<void()> ready);

  // False: there was none, and this is a new one. Fails when it cannot be read, or is another's.
  Result<bool> load(const ClusterId& cluster);
  AgentState& state() { return state_; }
  const AgentState& state() const { return state_; }

  void touch() { saver_.touch(); }  // changed: saved soon
  // Calls when all that is in the state now is safe. A failed save is tried again.
  void flush(std::function<void()> then) { saver_.flush(std::move(then)); }

  // A number above all that were used, ever. None: a block is being set aside.
  std::optional<int64_t> take_report();
  void raise_reports(int64_t above);  // the broker has seen this one

 private:
  void reserve();

  std::function<void()> before_save_;
  std::function<void()> ready_;
  StateStore& store_;
  AgentState state_;
  int64_t next_report_ = 1;
  int64_t saving_reports_ = 0;
  int64_t durable_reports_ = 0;
  bool reserving_ = false;
  Saver saver_;
};

}  // namespace spillway::agent
