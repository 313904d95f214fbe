// Expanders: which of the groups that could help is to grow. What an expander leaves is decided by
// chance, as the Cluster Autoscaler does it.
#pragma once

#include <string>
#include <vector>

#include "host/random.h"
#include "sim/scaler/options.h"
#include "sim/scaler/views.h"

namespace spillway::scaler {

// One group, so many new nodes, and whom they would help.
struct Option {
  std::string group;
  NodeView node;
  int32_t count = 0;
  std::vector<PodView> pods = {};
};

// Prices for an hour, by whoever sells.
struct Quotes {
  std::map<std::string, double> nodes;  // by group; none: it is not considered
  std::map<std::string, double> pods;   // by pod
  double stabilisation = 0;             // of half a core and 500 MiB
};

std::vector<Option> least_wasteful(const std::vector<Option>& options);
std::vector<Option> best_priced(const std::vector<Option>& options, const Quotes& quotes,
                                size_t cluster_nodes);
// The pod by which ratios are steadied.
PodView stabilisation_pod();

// None: there is nothing to choose from.
std::optional<Option> choose(const std::vector<Option>& options, host::Random& random);

}  // namespace spillway::scaler
