// int64 arithmetic that cannot silently wrap. Two kinds: try_* for numbers that outsiders chose
// (they answer nullopt), and checked_* for numbers that we bounded already (they abort).
#pragma once

#include <cstdint>
#include <optional>

#include "base/check.h"

namespace spillway {

__extension__ using Int128 = __int128;

inline std::optional<int64_t> try_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

inline std::optional<int64_t> try_multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  SPILLWAY_CHECK(!__builtin_add_overflow(a, b, &sum), "a sum left the range of int64");
  return sum;
}

inline int64_t checked_subtract(int64_t a, int64_t b) {
  int64_t difference = 0;
  SPILLWAY_CHECK(!__builtin_sub_overflow(a, b, &difference),
                 "a difference left the range of int64");
  return difference;
}

inline int64_t checked_multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  SPILLWAY_CHECK(!__builtin_mul_overflow(a, b, &product), "a product left the range of int64");
  return product;
}

inline int64_t checked_narrow(Int128 value) {
  SPILLWAY_CHECK(value >= INT64_MIN && value <= INT64_MAX, "a result left the range of int64");
  return static_cast<int64_t>(value);
}

// a * b / c, rounded up; a, b >= 0, c > 0. Exact inside: only the result must fit.
inline int64_t multiply_divide_up(int64_t a, int64_t b, int64_t c) {
  return checked_narrow((static_cast<Int128>(a) * b + (c - 1)) / c);
}

}  // namespace spillway
