// Fixed point for scores: products of numbers that outsiders chose. They saturate rather than
// abort: an absurd offer ranks last, and takes nobody down.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/arithmetic.h"

namespace spillway::rank {

// As large as an amount gets; eight of them fit an int64.
inline constexpr int64_t k_most_amount = INT64_MAX / 8;

// a × b / Divisor, rounded up, at most k_most_amount; a and b are not negative. Nearly always the
// product fits an int64, and the division by a constant is a multiplication.
template <int64_t Divisor>
int64_t scaled_up(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product) && product <= INT64_MAX - Divisor) [[likely]] {
    return std::min((product + Divisor - 1) / Divisor, k_most_amount);
  }
  const Int128 exact = (static_cast<Int128>(a) * b + (Divisor - 1)) / Divisor;
  return exact > k_most_amount ? k_most_amount : static_cast<int64_t>(exact);
}

inline int64_t add_amounts(int64_t a, int64_t b) { return std::min(a + b, k_most_amount); }

}  // namespace spillway::rank
