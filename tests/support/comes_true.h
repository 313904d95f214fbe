// Waiting for what happens in another thread or process that cannot tell us: looked at until it is
// so, or until nobody would wait any longer. Elsewhere wait for the one who knows.
#pragma once

#include <chrono>
#include <thread>

namespace spillway::test {

template <class F>
bool comes_true(F is_so, std::chrono::seconds patience = std::chrono::seconds(40)) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // between two looks
  }
  return true;
}

}  // namespace spillway::test
