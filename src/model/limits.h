// How much is too much. Values beyond these are refused at the door, so that sums and products
// inside never come near the range of int64, and one document cannot fill a broker's memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace spillway::model {

inline constexpr size_t k_max_names = 64;        // of GPUs, extended resources, labels, taints
inline constexpr size_t k_max_listed = 1000;     // clusters in a list; beyond, use labels
inline constexpr size_t k_max_text_bytes = 128;  // a region, a city, a source
inline constexpr size_t k_max_certificate_bytes = size_t{16} << 10;  // one, in PEM
inline constexpr int64_t k_max_units = 10'000;  // of one contract, or wanted by one intent

inline constexpr Duration k_shortest_lease = seconds(10);  // renewals must outrun it with ease
inline constexpr Duration k_longest_lease = hours(365 * 24);
inline constexpr Duration k_longest_wait = hours(30 * 24);  // notice, drain, grace, fence
inline constexpr Duration k_longest_term = hours(10 * 365 * 24);

inline constexpr int32_t k_max_carbon = 10'000;  // gCO2e per kWh; lignite stays below 1,500
inline constexpr int64_t k_max_milliwatts = 1'000'000'000;      // a megawatt a unit
inline constexpr int64_t k_max_bandwidth_mbit = 1'000'000'000;  // a petabit a second
inline constexpr int64_t k_max_distance_metres = 20'100'000;  // half the Earth's girth, rounded up
inline constexpr int64_t k_max_permille = 1'000'000;          // a weight of a thousand

}  // namespace spillway::model
