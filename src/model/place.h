// Where an offer is, on the globe and on the network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace spillway::model {

struct Place {
  int32_t latitude_microdegrees = 0;
  int32_t longitude_microdegrees = 0;
  std::string country;  // two capital letters, ISO 3166-1
  std::string region;
  std::string city;
  bool operator==(const Place&) const = default;
};

// Great-circle distance in metres, on a sphere of the Earth's mean radius (6,371,008.8 m).
int64_t great_circle_metres(const Place& a, const Place& b);

struct Network {
  int64_t bandwidth_mbit = 0;    // 0: not stated
  int64_t egress_gib_price = 0;  // micro-units of the offer's currency
  bool behind_nat = false;
  // Where buyers may measure how far away it is: "192.0.2.7:443"; empty: nowhere. A TCP connection
  // that stands is enough, nothing is said over it.
  std::string probe;
  bool operator==(const Network&) const = default;
};

Status validate(const Place& place);
Status validate(const Network& network);

}  // namespace spillway::model
