// How much of a driver's file its state may take. Counted before an order is taken: else whoever
// may order could make a file that no driver reads again, and every save of it slow. Pure.
//
// The whole document is never written to know it. An order is measured once; what the driver and
// its Fabrics note of the unit by and by is counted with it from the start, so it always has room.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "services/driver/driver_state.h"

namespace spillway::driver {

inline constexpr size_t k_most_state_bytes = size_t{256} << 20;  // more is not read

// What a unit takes at most, on both sides, from its order until only its name is kept.
size_t bytes_of(const UnitOrder& order);
// For one more of so many bytes. Over quota: units that there are, or names of those that are
// gone, leave none.
Status check_room(const DriverState& state, size_t bytes);

}  // namespace spillway::driver
