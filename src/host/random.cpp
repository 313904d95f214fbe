#include "host/random.h"

#include <sys/random.h>

#include "base/check.h"

namespace spillway::host {

uint64_t SystemRandom::next() {
  uint64_t value = 0;
  const ssize_t got = getrandom(&value, sizeof value, 0);
  SPILLWAY_CHECK(got == sizeof value, "the system has no randomness");
  return value;
}

uint64_t SeededRandom::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace spillway::host
