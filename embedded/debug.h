// The paths by which faults are asked for over HTTP, where ClusterOptions::has_debug_paths allows
// it:
//
//   POST   /debug/faults          a Fault as a document: its members by their names, durations as
//                                 "250ms"; e.g. {"verb":"watch","cut_after_events":3}
//   DELETE /debug/faults          no more faults
//   POST   /debug/forget-history  watches and lists of the past get 410
//   POST   /debug/restart         {"down":"2s","lost_versions":10}; both may be left out
//   POST   /debug/clock           {"skew":"1h","is_behind":true}
//   POST   /debug/kubelet         {"node":"node-1","is_on":false}
#pragma once

#include "embedded/api.h"

namespace spillway::embedded {

class Cluster;

Answer<Reply> debug(Cluster& cluster, const Ask& ask);

// Refuses what it does not know, so that a slip of the pen is not a fault that never happens.
Answer<Fault> read_fault(const model::Node& document);

}  // namespace spillway::embedded
