// Resources: an amount of everything a node can have. Adds, subtracts and compares in every
// resource at once; GPUs are counted by model, since an hour of one is not an hour of another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace spillway::model {

// One name and how many of it. Lists of these are sorted by name, without zeros.
struct Count {
  std::string name;
  int64_t amount = 0;
  bool operator==(const Count&) const = default;
};
using Counts = std::vector<Count>;

struct Resources {
  int64_t cpu_millis = 0;
  int64_t memory_bytes = 0;
  int64_t pods = 0;
  int64_t storage_bytes = 0;  // ephemeral-storage
  Counts gpus;                // by model, e.g. nvidia-a100
  Counts extended;            // by resource name, e.g. example.com/fpga

  bool operator==(const Resources&) const = default;
  bool is_zero() const;

  // Amounts are bounded by validation, so these do not overflow; they abort if they would.
  Resources& operator+=(const Resources& other);
  Resources& operator-=(const Resources& other);  // may go below zero: a deficit
  Resources times(int64_t n) const;

  // True when `part` is covered in every resource.
  bool covers(const Resources& part) const;
  // How many times `part` fits; INT32_MAX when `part` is zero.
  int32_t how_many(const Resources& part) const;
  // Name of the first resource in which `part` is not covered; empty when it is.
  std::string_view first_short(const Resources& part) const;
};

Resources operator+(Resources a, const Resources& b);
Resources operator-(Resources a, const Resources& b);

// "2 cpu, 4Gi memory, 1 × nvidia-a100"
std::string to_text(const Resources& resources);

// No negative amount, none above k_max_amount, names well-formed and in order.
Status validate(const Resources& resources);

// 2^50 of anything: a petabyte of memory, a trillion cores. Sums of 8,000 of them fit an int64.
inline constexpr int64_t k_max_amount = int64_t{1} << 50;

}  // namespace spillway::model
