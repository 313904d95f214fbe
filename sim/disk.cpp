#include "sim/disk.h"

#include <utility>

namespace spillway::sim {

void SimDisk::save(const std::string& json, std::function<void(Status)> then) {
  World& world = process_.world();
  under_way_ = json;
  const bool fails = world.chance(3);
  const bool is_slow = world.now() < slow_until_ || world.chance(20);
  const Duration time = is_slow ? world.between(milliseconds(100), seconds(2))
                                : world.between(milliseconds(1), milliseconds(10));
  process_.after(time, [this, fails, then = std::move(then)] {
    std::string text = *std::exchange(under_way_, std::nullopt);
    // A save that fails may have reached the disk all the same.
    if (!fails || process_.world().chance(500)) saved_ = std::move(text);
    then(fails ? fail(Code::unavailable, "disk", "a write failed", "try again") : Status{});
  });
}

void SimDisk::crash() {
  if (under_way_ && process_.world().chance(500)) saved_ = std::move(*under_way_);
  under_way_.reset();
}

}  // namespace spillway::sim
