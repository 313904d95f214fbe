// DemoRun: an hour of load on the buyer's cluster, which the model of the Cluster Autoscaler scales
// over the real gRPC server. It has a thread of its own.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "cli/demo_clock.h"
#include "cli/demo_federation.h"
#include "cli/demo_nodes.h"
#include "cli/demo_notes.h"
#include "sim/scaler/options.h"

namespace spillway::cli {

// How it stands.
struct RunView {
  Status problem = {};
  int32_t wanted = 0;   // replicas
  int32_t placed = 0;   // pods that have a node
  int32_t waiting = 0;  // that have none
  int64_t loops = 0;    // of the Cluster Autoscaler
  std::vector<Duration> waits = {};
  std::vector<Noted> decided = {};
  std::vector<UnitNode> units = {};  // all that there were, in the order in which they came
  int32_t most_guests = 0;           // of all of them, at once
};

class DemoRun {
 public:
  // The cluster is in sight and the node groups are there when this returns.
  static Result<std::unique_ptr<DemoRun>> open(const DemoFederation& federation,
                                               scaler::Expander expander);
  DemoRun(const DemoRun&) = delete;
  DemoRun& operator=(const DemoRun&) = delete;
  ~DemoRun();

  void begin(FastTime time);
  RunView look();

 private:
  class Parts;
  explicit DemoRun(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
  std::thread thread_;
};

}  // namespace spillway::cli
