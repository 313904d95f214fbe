// StateFile: a service's state in a file of its own folder, replaced as a whole. One of a kind per
// folder: two of them would use the same numbers for different things.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "pki/file_handle.h"
#include "services/agent/agent_state.h"

namespace spillway::agent {

// Whose state it is, and how a file that is not whole is known and mended.
struct StateKind {
  std::string name;  // of the file, without .json
  std::function<Status(const std::string& json, const std::string& source)> check;
  std::string mend;     // of a file
  std::string without;  // what becomes of one that begins anew
};
StateKind agent_state();

class StateFile final : public StateStore {
 public:
  // Makes the folder if it is not there. Refuses when another of this kind has it, and says which.
  static Result<std::unique_ptr<StateFile>> open(const std::string& folder,
                                                 StateKind kind = agent_state());

  void save(const std::string& json, std::function<void(Status)> then) override;
  Result<std::string> load() override;
  Status forget();  // the next load finds nothing

  const std::string& path() const { return path_; }

 private:
  StateFile(const std::string& folder, StateKind kind, pki::FileHandle lock)
      : kind_(std::move(kind)),
        path_(fmt::format("{}/{}.json", folder, kind_.name)),
        lock_(std::move(lock)) {}

  StateKind kind_;
  std::string path_;
  pki::FileHandle lock_;
};

}  // namespace spillway::agent
