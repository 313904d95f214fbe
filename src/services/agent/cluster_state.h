// ClusterState: an agent's state in a Secret of its own cluster. A save is done when the cluster's
// store has it, so what was acknowledged outlives any process and any node.
//
// A Secret holds 1 MiB, some 1000 contracts and offers together. A state that is larger is not
// saved, and the agent says so: nothing that needs a save is acknowledged then, and what was saved
// last stays.
#pragma once

#include <functional>
#include <string>

#include "services/agent/agent_state.h"
#include "services/agent/held_secret.h"

namespace spillway::agent {

class ClusterState final : public StateStore {
 public:
  static constexpr const char* k_file = "agent.json";

  explicit ClusterState(HeldSecret& secret) : secret_(secret) {}  // claimed by the first load

  void save(const std::string& json, std::function<void(Status)> then) override;
  Result<std::string> load() override;

 private:
  HeldSecret& secret_;
};

}  // namespace spillway::agent
