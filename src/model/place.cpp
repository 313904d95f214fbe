#include "model/place.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/text.h"
#include "model/limits.h"
#include "model/price.h"
#include "model/validation.h"

namespace spillway::model {
namespace {

constexpr int32_t k_max_latitude = 90'000'000;
constexpr int32_t k_max_longitude = 180'000'000;
constexpr double k_earth_radius_metres = 6'371'008.8;

double radians(int32_t microdegrees) {
  return static_cast<double>(microdegrees) * (std::numbers::pi / 180e6);
}

Status check_degrees(std::string_view path, int32_t value, int32_t most) {
  if (value >= -most && value <= most) return {};
  return refuse(path, micros_to_text(value) + " degrees is out of range",
                "use -" + micros_to_text(most) + " to " + micros_to_text(most));
}

// Whoever goes there reads it closely.
bool looks_like_address_and_port(std::string_view text) {
  constexpr size_t k_longest = 64;
  const size_t colon = text.rfind(':');
  if (text.size() > k_longest || colon == std::string_view::npos || colon == 0) return false;
  const std::string_view port = text.substr(colon + 1);
  const bool is_port =
      !port.empty() && port.size() <= 5 && std::all_of(port.begin(), port.end(), is_digit);
  return is_port && text.substr(0, colon).find_first_not_of("0123456789abcdefABCDEF.:[]") ==
                        std::string_view::npos;
}

}  // namespace

// Haversine: well-conditioned for the short distances that matter most.
int64_t great_circle_metres(const Place& a, const Place& b) {
  const double latitude_a = radians(a.latitude_microdegrees);
  const double latitude_b = radians(b.latitude_microdegrees);
  const double half_latitude = std::sin((latitude_b - latitude_a) / 2);
  const double half_longitude =
      std::sin((radians(b.longitude_microdegrees) - radians(a.longitude_microdegrees)) / 2);
  const double h = half_latitude * half_latitude +
                   std::cos(latitude_a) * std::cos(latitude_b) * half_longitude * half_longitude;
  return std::llround(2 * k_earth_radius_metres * std::asin(std::sqrt(std::clamp(h, 0.0, 1.0))));
}

Status validate(const Place& place) {
  SPILLWAY_TRY(check_degrees("latitude", place.latitude_microdegrees, k_max_latitude));
  SPILLWAY_TRY(check_degrees("longitude", place.longitude_microdegrees, k_max_longitude));
  if (!place.country.empty()) SPILLWAY_TRY(check_country("country", place.country));
  SPILLWAY_TRY(check_text("region", place.region));
  return check_text("city", place.city);
}

Status validate(const Network& network) {
  SPILLWAY_TRY(check_range("bandwidth_mbit", network.bandwidth_mbit, 0, k_max_bandwidth_mbit));
  SPILLWAY_TRY(check_amount("egress_gib_price", network.egress_gib_price));
  if (network.probe.empty() || looks_like_address_and_port(network.probe)) return {};
  return refuse("probe", in_quotes(network.probe) +
                             " is no address with a port, as 192.0.2.7:443 or [2001:db8::7]:443");
}

}  // namespace spillway::model
