// StateFile: an agent's state in a file of its own folder, replaced as a whole. One agent per
// folder: two of them would use the same numbers for different things.
#pragma once

#include <memory>
#include <string>

#include "pki/file_handle.h"
#include "services/agent/agent_state.h"

namespace spillway::agent {

class StateFile final : public StateStore {
 public:
  // Makes the folder if it is not there. Refuses when another agent has it, and says which.
  static Result<std::unique_ptr<StateFile>> open(const std::string& folder);

  void save(const std::string& json, std::function<void(Status)> then) override;
  Result<std::string> load() override;
  Status forget();  // the next load finds nothing

  const std::string& path() const { return path_; }

 private:
  StateFile(const std::string& folder, pki::FileHandle lock)
      : path_(folder + "/agent.json"), lock_(std::move(lock)) {}

  std::string path_;
  pki::FileHandle lock_;
};

}  // namespace spillway::agent
