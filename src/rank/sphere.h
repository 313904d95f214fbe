// Distances without trigonometry, for scans.
//
// A place is a point on the unit sphere; the straight line through the Earth between two of them
// grows with the great circle above it. So "within d metres" is one comparison of squares, and only
// within k_slack_metres of the limit does the exact model::great_circle_metres decide. What is
// reported or paid for is always the exact one: nothing here ever decides by a rounded float.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "model/place.h"

namespace spillway::rank {

struct Direction {
  double x = 1;
  double y = 0;
  double z = 0;
};

inline constexpr double k_earth_radius_metres = 6'371'008.8;
inline constexpr double k_half_girth_metres = std::numbers::pi * k_earth_radius_metres;
// Doubles err by less than a third of a metre here, near antipodes; the exact distance is rounded
// to the metre. Two cover both.
inline constexpr int64_t k_slack_metres = 2;

inline Direction direction_of(int32_t latitude_microdegrees, int32_t longitude_microdegrees) {
  const double latitude = latitude_microdegrees * (std::numbers::pi / 180e6);
  const double longitude = longitude_microdegrees * (std::numbers::pi / 180e6);
  return {std::cos(latitude) * std::cos(longitude), std::cos(latitude) * std::sin(longitude),
          std::sin(latitude)};
}

// Square of the straight line between two points, in squared Earth radii: 0 to 4.
inline double chord_squared(const Direction& a, const Direction& b) {
  const double x = a.x - b.x;
  const double y = a.y - b.y;
  const double z = a.z - b.z;
  return x * x + y * y + z * z;
}

inline double chord_squared_of(double metres) {
  const double half =
      std::sin(std::clamp(metres, 0.0, k_half_girth_metres) / (2 * k_earth_radius_metres));
  return 4 * half * half;
}

// Within k_slack_metres of model::great_circle_metres.
inline int64_t roughly_metres(const Direction& a, const Direction& b) {
  const double half = std::sqrt(chord_squared(a, b)) / 2;
  return std::llround(2 * k_earth_radius_metres * std::asin(std::min(half, 1.0)));
}

}  // namespace spillway::rank
