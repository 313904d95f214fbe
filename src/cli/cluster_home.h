// ClusterHome: where the clusters that `spillway cluster up` started have their kubeconfigs, logs
// and processes: a folder for each, in ~/.local/state/spillway/clusters or $SPILLWAY_CLUSTERS.
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
  static std::vector<std::string> all();                      // names, sorted

  const std::string& folder() const { return folder_; }
  std::string kubeconfig() const { return folder_ + "/kubeconfig"; }
  std::string log() const { return folder_ + "/log"; }

  // Whoever starts or ends one waits for the others that do.
  static Result<pki::FileHandle> lock();
  std::optional<ProcessMark> process() const;  // that runs
  Status remember(const ProcessMark& mark) const;
  void remove() const;

 private:
  explicit ClusterHome(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

}  // namespace spillway::cli
