// ClusterHome: where the clusters that `spillway cluster up` started have their kubeconfigs, logs
// and processes: a folder for each, in ~/.local/state/spillway/clusters or $SPILLWAY_CLUSTERS.
//
// A cluster's process writes to the log of its home and holds a lock on it from before it exists
// to its end, for it inherits the lock with its output. So whoever starts one may be killed at any
// moment: what it left running is seen, named by its own mark, and can be ended. One that finds its
// home gone, or become another's, ends by itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/process_mark.h"
#include "pki/file_handle.h"

namespace spillway::cli {

class ClusterHome {
 public:
  static Result<ClusterHome> of(const std::string& cluster);  // refuses what is no name
  static Result<std::vector<std::string>> all();              // names, sorted

  const std::string& folder() const { return folder_; }
  std::string kubeconfig() const { return folder_ + "/kubeconfig"; }
  std::string log() const { return folder_ + "/log"; }

  // Whoever starts or ends one waits for the others that do.
  static Result<pki::FileHandle> lock();
  Result<pki::FileHandle> open_log() const;  // locked: for the output of a process to be started
  bool is_up() const;
  std::optional<ProcessMark> process() const;  // that runs, and has said so

  // For the process itself, whose output is `output`.
  bool is_of(int output) const;
  Status remember(const ProcessMark& mark) const;
  void remove() const;

 private:
  explicit ClusterHome(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

}  // namespace spillway::cli
