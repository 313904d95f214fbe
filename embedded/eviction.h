// Eviction: deletes a pod unless a disruption budget forbids it now.
#pragma once

#include "embedded/objects.h"

namespace spillway::embedded {

Done evict_pod(Objects& objects, const Key& pod, const DeleteOptions& options);

}  // namespace spillway::embedded
