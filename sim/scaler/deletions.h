// Deletions: nodes that are on their way out. Each was tainted; after a while its pods are evicted,
// when they are gone the cloud is told to delete it. An empty one that got pods meanwhile stays,
// and so does one whose pods do not leave.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/scaler/actions.h"
#include "sim/scaler/options.h"
#include "sim/scaler/scale_down.h"

namespace spillway::scaler {

class Deletions {
 public:
  explicit Deletions(const Options& options) : options_(options) {}

  void start(const Removal& removal, Instant now);  // it is tainted
  // What is to be asked now; each is answered by told().
  std::vector<Action> step(const ClusterView& cluster, Instant now);
  void told(const Action& action, const Outcome& outcome, Instant now);
  Instant next() const;  // when step() is wanted again; k_last_instant: after told()

  ScaleDown::InProgress progress() const;
  std::set<std::string> leaving() const;  // names of nodes
  std::set<std::string> drained() const;

 private:
  enum class Stage : uint8_t { waiting, evicting, emptying, removing, giving_up };
  struct Deletion {
    Removal removal;
    Stage stage = Stage::waiting;
    Instant since = {};  // in this stage
    Instant look_at = {};
    bool is_asked = false;                 // and not answered
    std::set<std::string> unevicted = {};  // pods
    int32_t evictions_out = 0;
  };

  void enter(Deletion& deletion, Stage stage, Instant now, Duration look_after = {});
  void begin(Deletion& deletion, const ClusterView& cluster, Instant now);
  void look_for_pods(Deletion& deletion, const ClusterView& cluster, Instant now);
  void evict(Deletion& deletion, const ClusterView& cluster, Instant now,
             std::vector<Action>& actions);

  const Options& options_;
  std::map<std::string, Deletion> deletions_;  // by name of node
};

}  // namespace spillway::scaler
