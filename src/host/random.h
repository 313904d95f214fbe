// Where ids and jitter come from: a port with two doors, the system's randomness and a seed.
#pragma once

#include <cstdint>

namespace spillway::host {

class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t next() = 0;
};

// Evenly below `bound` (bound > 0); the bias of the remainder is below 2^-32 for bounds below 2^32.
inline uint64_t below(Random& random, uint64_t bound) { return random.next() % bound; }

class SystemRandom : public Random {
 public:
  uint64_t next() override;
};

// SplitMix64 (Steele, Lea, Flood 2014): same seed, same numbers, on every machine.
class SeededRandom : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}
  uint64_t next() override;

 private:
  uint64_t state_;
};

}  // namespace spillway::host
