// A party's disk, as an agent sees it: what was saved and acknowledged is there after a crash; what
// was on its way is there or not, and never in part.
#pragma once

#include <optional>
#include <string>

#include "services/agent/agent_state.h"
#include "sim/world.h"

namespace spillway::sim {

class SimDisk : public agent::StateStore {
 public:
  explicit SimDisk(Process& process) : process_(process) {}

  void save(const std::string& json, std::function<void(Status)> then) override;
  Result<std::string> load() override { return saved_; }
  void crash();  // of the process: before it starts again
  void be_slow_until(Instant time) { slow_until_ = time; }  // each save takes a while
  bool is_saving() const { return under_way_.has_value(); }

 private:
  Process& process_;
  std::string saved_;
  std::optional<std::string> under_way_;
  Instant slow_until_;
};

}  // namespace spillway::sim
