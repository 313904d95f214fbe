// All that an identity has, at one moment, with the event that it is true at: where agents begin,
// and begin again when the log no longer has what they missed.
#pragma once

#include <functional>
#include <memory>

#include "services/broker/desk.h"
#include "services/wire/bodies.h"

namespace spillway::services {

void take_snapshot(Desk& desk, const std::shared_ptr<Call>& call,
                   std::function<void(const wire::SnapshotAnswer&)> then);

}  // namespace spillway::services
