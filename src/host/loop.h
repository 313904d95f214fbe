// Loop: the port through which time passes and work is queued. Services run one on a Poll
// (services/service_loop.h); the simulator runs all its processes on one virtual clock behind the
// same interface.
#pragma once

#include <cstdint>
#include <functional>

#include "base/time.h"

namespace spillway::host {

using Task = std::function<void()>;

class Loop {
 public:
  virtual ~Loop() = default;
  virtual Instant now() = 0;
  // Runs `task` on the loop, soon. The only member that other threads may call.
  virtual void post(Task task) = 0;
  // Runs `task` once `after` has passed. There is no cancel: tasks look whether they still apply.
  virtual void after(Duration delay, Task task) = 0;
};

}  // namespace spillway::host
