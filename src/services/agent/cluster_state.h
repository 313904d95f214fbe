// ClusterState: a service's state in a Secret of its own cluster. A save is done when the cluster's
// store has it, so what was acknowledged outlives any process and any node.
//
// A Secret holds 1 MiB, some 1000 contracts and offers together; with the fabric, 1.5 KB a contract
// of one unit, some 650. A state that is larger is not
// saved, and the service says so: nothing that needs a save is acknowledged then, and what was
// saved last stays.
#pragma once

#include <functional>
#include <string>

#include "services/agent/agent_state.h"
#include "services/agent/held_secret.h"
#include "services/agent/state_file.h"

namespace spillway::agent {

class ClusterState final : public StateStore {
 public:
  static constexpr const char* k_file = "agent.json";  // of an agent; others by their kind

  // The Secret is claimed by the first load.
  explicit ClusterState(HeldSecret& secret, StateKind kind = agent_state())
      : secret_(secret), kind_(std::move(kind)) {}

  void save(const std::string& json, std::function<void(Status)> then) override;
  Result<std::string> load() override;

 private:
  std::string file() const { return kind_.name + ".json"; }

  HeldSecret& secret_;
  StateKind kind_;
};

}  // namespace spillway::agent
