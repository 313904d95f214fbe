#include "services/driver/state_size.h"

#include <fmt/format.h>

#include "model/codec.h"

namespace spillway::driver {
namespace {

constexpr size_t k_most_units = 10'000;  // that one driver has at a time
constexpr size_t k_most_unit_bytes = size_t{96} << 20;
// Steps, times, and what both Fabrics keep of a contract of one unit, beside its offer: 4 KiB,
// and more where names are long.
constexpr size_t k_noted_bytes = 6000;

// They cannot be used again, so they are never forgotten: 1,000 units a day for five years.
constexpr size_t k_most_names = 2'000'000;
constexpr size_t k_name_bytes = 66;  // "sw-<26>-9999":"2026-01-31T09:30:00.250Z",

// The rest is for what follows from the driver's file: peerings, ids of clusters, their networks.
static_assert(k_most_unit_bytes + k_most_names * k_name_bytes + (size_t{24} << 20) <
              k_most_state_bytes);

}  // namespace

// Twice: its consumer's Fabric keeps the offer that is made of it.
size_t bytes_of(const UnitOrder& order) {
  return 2 * model::write_json(order).size() + k_noted_bytes;
}

Status check_room(const DriverState& state, size_t bytes) {
  if (state.units.size() >= k_most_units) {
    return fail(Code::over_quota, "units", fmt::format("there are {} already", k_most_units),
                "end some, which count until they have been gone for an hour");
  }
  for (const auto& [name, unit] : state.units) bytes += unit.bytes;
  if (bytes > k_most_unit_bytes) {
    return fail(Code::over_quota, "units",
                fmt::format("with this one they would take more than {} MiB of the driver's file",
                            k_most_unit_bytes >> 20),
                "end some, which count until they have been gone for an hour, or order with fewer "
                "labels and annotations");
  }
  if (state.units.size() + state.over.size() < k_most_names) return {};
  return fail(Code::over_quota, "names of units",
              fmt::format("{} are kept already, for they are never used again", k_most_names),
              "when all units have ended, stop the driver, move its state away and start it; "
              "docs/driver.md, Limits");
}

}  // namespace spillway::driver
