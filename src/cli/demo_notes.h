// What the demo writes down of a run while it lasts: which pods had to wait for a node and for how
// long, and what the Cluster Autoscaler decided when, and why.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/scaler/actions.h"

namespace spillway::cli {

// Pods of which the scheduler had said that no node has room for them.
class PodWaits {
 public:
  void look(const scaler::ClusterView& cluster, Instant now);
  std::vector<Duration> all(Instant now) const;  // also of those that wait still

 private:
  std::map<std::string, Instant> waiting_;  // since when
  std::vector<Duration> over_;
};

enum class Deed : uint8_t { bought, refused, gave_back };

struct Noted {
  Duration at;  // since the run began
  Deed deed = Deed::bought;
  std::string group = {};
  int32_t units = 0;
  std::string why = {};
};

// Listens to what the model asks of its cloud and of its cluster.
class Decided {
 public:
  explicit Decided(const scaler::Options& options) : options_(options) {}

  void note(const scaler::Action& action, const scaler::Outcome& outcome, Duration at);
  const std::vector<Noted>& all() const { return all_; }

 private:
  std::string why_this_group() const;
  std::string why_not_needed(const std::string& node) const;

  scaler::Options options_;
  std::map<std::string, double> quoted_;    // for an hour, by group, since something was bought
  std::vector<std::string> chosen_from_;    // by the gRPC expander
  std::map<std::string, int32_t> tainted_;  // nodes, and how many of their pods were moved
  std::vector<Noted> all_;
};

// "far" of "far/cheap-1a2b".
std::string seller_of(const std::string& group);

}  // namespace spillway::cli
