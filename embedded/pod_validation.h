// Validation of pods and of the templates that become pods.
#pragma once

#include <vector>

#include "embedded/refusal.h"
#include "model/node.h"

namespace spillway::embedded {

void check_pod(const model::Node& pod, const model::Node* before, std::vector<Cause>& causes);
// spec.template of a deployment or a replica set.
void check_pod_template(const model::Node& document, std::vector<Cause>& causes);

}  // namespace spillway::embedded
