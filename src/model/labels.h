// Labels and taints in Kubernetes' syntax. Sorted vectors, not maps: an offer has a handful, a
// market has tens of thousands of offers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace spillway::model {

struct Label {
  std::string key;
  std::string value;
  bool operator==(const Label&) const = default;
};
using Labels = std::vector<Label>;  // sorted by key, keys unique

const std::string* find_label(const Labels& labels, std::string_view key);
// Every label of `wanted` is in `labels` with the same value.
bool contains_all(const Labels& labels, const Labels& wanted);
Status validate(const Labels& labels);

enum class TaintEffect { no_schedule, prefer_no_schedule, no_execute };

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::no_schedule;
  bool operator==(const Taint&) const = default;
};
Status validate(const std::vector<Taint>& taints);

}  // namespace spillway::model
