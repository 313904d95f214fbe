// Cluster: a member of the federation, as the operator describes it: what it may buy, and the
// labels by which sellers may choose to show it their offers.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "base/money.h"
#include "model/labels.h"
#include "model/resources.h"

namespace spillway::model {

// Caps on what a buyer holds at a time. Absent means no cap; for GPUs and extended resources what
// is not listed has no cap.
struct Quota {
  std::optional<int64_t> units;
  std::optional<int64_t> open_holds;  // holds not yet confirmed: nobody may squat on a market
  std::optional<int64_t> cpu_millis;
  std::optional<int64_t> memory_bytes;
  std::optional<int64_t> pods;
  std::optional<int64_t> storage_bytes;
  Counts gpus;
  Counts extended;
  bool operator==(const Quota&) const = default;
};

// At most `limit` is spent or promised between `from` and the day when the operator sets another.
// Setting a budget with another `from` starts the count of what was spent anew.
struct Budget {
  Money limit;
  Instant from;
  bool operator==(const Budget&) const = default;
};

struct Cluster {
  ClusterId id;
  Labels labels;  // given by the operator
  Quota quota;
  std::optional<Budget> budget;
  bool operator==(const Cluster&) const = default;
};

Status validate(const Cluster& cluster);

}  // namespace spillway::model
