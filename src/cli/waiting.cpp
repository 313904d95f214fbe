#include "cli/waiting.h"

#include <thread>

namespace spillway::cli {

Moment clock_now() { return std::chrono::steady_clock::now(); }

double ms_between(Moment from, Moment to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

Result<bool> wait_until(std::chrono::milliseconds patience, std::chrono::milliseconds look,
                        const std::function<Result<bool>()>& is_done) {
  const Moment until = clock_now() + patience;
  while (true) {
    auto done = is_done();
    if (!done || *done) return done;
    if (clock_now() > until) return false;
    std::this_thread::sleep_for(look);
  }
}

}  // namespace spillway::cli
