// What a kubelet writes into the status of a pod.
#pragma once

#include <string>

#include "base/time.h"
#include "model/node.h"

namespace spillway::embedded {

struct PodPlace {
  std::string host_ip;
  std::string pod_ip;
};

void set_running(model::Node& pod, const PodPlace& place, bool is_ready, Instant now);
void set_ended(model::Node& pod, int64_t exit_code, Instant now);

}  // namespace spillway::embedded
