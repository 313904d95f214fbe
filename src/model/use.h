// Use: what was metered of a unit since its start, resource times time.
//
// Bytes times milliseconds would leave an int64 within two days on a large node. In the units here
// a thousand cores or a terabyte of memory for 250 years are still an exact integer of JSON, and so
// can be signed (model/canonical.h). The names of resources are those of the unit's shape.
#pragma once

#include <cstdint>
#include <string>

#include "model/resources.h"

namespace spillway::model {

struct Use {
  int64_t cpu_core_ms = 0;  // cores times milliseconds, or millicores times seconds: the same
  int64_t memory_mib_s = 0;
  int64_t storage_mib_s = 0;
  Counts gpu_ms = {};       // by model
  Counts extended_ms = {};  // by resource name

  bool operator==(const Use&) const = default;
  bool is_zero() const { return *this == Use{}; }
  // True when `other` is no greater in any resource.
  bool covers(const Use& other) const;
};

inline constexpr int64_t k_max_use = (int64_t{1} << 53) - 1;

// Of both, the smaller in every resource; what only one of them names is nothing.
Use least(const Use& one, const Use& other);

// No negative amount, none above k_max_use, names in order.
Status validate(const Use& use);

// "1.5 cpu hours, 3 GiB hours of memory"; "nothing".
std::string to_text(const Use& use);

}  // namespace spillway::model
