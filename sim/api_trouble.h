// ApiTrouble: how a cluster's API server misbehaves: in every way that embedded/faults.h knows, and
// some more. The cluster itself lives on.
#pragma once

#include "sim/cluster.h"

namespace spillway::sim {

struct TroubleOptions {
  Duration most_skew = hours(30);  // of its clock
  // Bytes that come slowly. Not where certificates go about: their length is up to chance, and so
  // would be what happens when.
  bool has_slow_bytes = true;
};

class ApiTrouble {
 public:
  // `agent_at` is who may be cut off from it.
  ApiTrouble(World& world, Network& network, SimCluster& cluster, Address agent_at,
             TroubleOptions options = {});

  void cause();  // some of it
  void end();    // all of it, but for a restart that is under way
  void restart();
  // Up to when what was caused may last.
  Instant lasts_until() const { return until_; }

 private:
  void fail_requests();
  void fail_streams();
  // In a while all faults are cleared.
  void clear_after(Duration time);
  void lasts(Duration time);

  World& world_;
  Network& network_;
  SimCluster& cluster_;
  Address agent_at_;
  TroubleOptions options_;
  Instant until_;
};

}  // namespace spillway::sim
