// Instant and Duration: whole milliseconds, int64. Minds never ask what time it is; it is told
// them.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/arithmetic.h"
#include "base/result.h"

namespace spillway {

struct Duration {
  int64_t ms = 0;
  auto operator<=>(const Duration&) const = default;
};

constexpr Duration milliseconds(int64_t n) { return {n}; }
constexpr Duration seconds(int64_t n) { return {n * 1000}; }
constexpr Duration minutes(int64_t n) { return {n * 60'000}; }
constexpr Duration hours(int64_t n) { return {n * 3'600'000}; }

inline Duration operator+(Duration a, Duration b) { return {checked_add(a.ms, b.ms)}; }
inline Duration operator-(Duration a, Duration b) { return {checked_subtract(a.ms, b.ms)}; }

// Milliseconds since 1970-01-01T00:00:00Z.
struct Instant {
  int64_t ms = 0;
  auto operator<=>(const Instant&) const = default;
};

inline Instant operator+(Instant t, Duration d) { return {checked_add(t.ms, d.ms)}; }
inline Instant operator-(Instant t, Duration d) { return {checked_subtract(t.ms, d.ms)}; }
inline Duration operator-(Instant a, Instant b) { return {checked_subtract(a.ms, b.ms)}; }

// What RFC 3339 can write and a computer of ours can mean: 1970 to 9999. Times that outsiders state
// are held to it, so that adding a term or a lease to one never leaves the range of int64.
inline constexpr Instant k_first_instant{0};
inline constexpr Instant k_last_instant{253'402'300'799'999};

// RFC 3339 in UTC, with milliseconds only when there are any: 2026-01-31T09:30:00.250Z.
// Reading takes other offsets from UTC too, and refuses what is finer than a millisecond.
std::string to_text(Instant t);
Result<Instant> parse_instant(std::string_view text);

// 1h30m, 250ms, 45s; the units d h m s ms, largest first, each at most once.
std::string to_text(Duration d);
Result<Duration> parse_duration(std::string_view text);

}  // namespace spillway
