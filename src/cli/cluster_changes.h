// What `clusters set` changes: options laid over a cluster as it is.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "cli/word.h"
#include "model/cluster.h"

namespace spillway::cli {

struct ClusterChanges {
  std::string units;  // a number, or "none"
  std::string open_holds;
  std::string cpu;
  std::string memory;
  std::string pods;
  std::string storage;
  std::vector<std::string> gpus;    // model=n
  std::string budget;               // "100 EUR", or "none"
  bool new_budget = false;          // what was spent so far counts no more
  std::vector<std::string> labels;  // "tier=gold,zone=a", "tier-" takes one away

  bool empty() const;
};

void add_cluster_changes(Word verb, ClusterChanges& changes);
Status apply(const ClusterChanges& changes, Instant now, model::Cluster& cluster);

}  // namespace spillway::cli
