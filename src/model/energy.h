// Carbon and power as a provider states them. A claim is a claim: who says so, when, and whether
// anyone measured it travel with the numbers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace spillway::model {

enum class Evidence { claimed, measured };

// Where a number comes from.
struct Provenance {
  std::string source;  // "electricity-maps", "kepler", "datasheet"
  Instant as_of;
  Evidence evidence = Evidence::claimed;
  bool operator==(const Provenance&) const = default;
};

struct MixShare {
  std::string source;  // "solar", "grid", "battery"
  int32_t permille = 0;
  bool operator==(const MixShare&) const = default;
};

struct Energy {
  int32_t carbon_now = 0;                  // gCO2e per kWh
  std::vector<int32_t> carbon_forecast;    // gCO2e per kWh, one an hour from as_of on; 0 or 24
  std::vector<MixShare> mix;               // sums to 1000 when given
  std::optional<int64_t> unit_milliwatts;  // drawn by one unit in use
  Provenance provenance;
  bool operator==(const Energy&) const = default;
};

// Carbon intensity at `when`: the forecast's hour, else the current value.
int32_t carbon_at(const Energy& energy, Instant when);

Status validate(const Energy& energy);

}  // namespace spillway::model
