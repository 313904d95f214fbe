// Intent: capacity wanted. Hard constraints rule offers out; the cost expression ranks the rest.
//
// The cost of a candidate is one amount of money per unit-hour: what it charges, plus what the
// buyer says a kilogram of CO2e and a thousand kilometres are worth to it. One unit makes every
// score explainable as a sum.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/money.h"
#include "base/time.h"
#include "model/labels.h"
#include "model/place.h"
#include "model/resources.h"

namespace spillway::model {

enum class Operator { in, not_in, exists, absent };

// On the labels of an offer, or of a node.
struct LabelConstraint {
  std::string key;
  Operator op = Operator::in;
  std::vector<std::string> values;
  bool operator==(const LabelConstraint&) const = default;
};

Status validate(const LabelConstraint& constraint);
// `not_in` and `absent` hold where the label is not.
bool holds(const LabelConstraint& constraint, const Labels& labels);

// Absent or empty: not asked for.
struct Constraints {
  std::vector<LabelConstraint> labels;
  std::vector<std::string> countries;  // one of
  std::vector<ClusterId> providers;    // one of
  std::vector<ClusterId> excluded_providers;
  std::vector<std::string> tolerated_taints;  // keys; an offer with another taint is ruled out
  bool tolerate_all_taints = false;
  std::optional<int64_t> max_unit_hour;        // micro-units
  std::optional<int32_t> max_carbon;           // gCO2e per kWh; unknown carbon is then ruled out
  std::optional<int64_t> max_distance_metres;  // needs `near`
  std::optional<Duration> min_lease;
  bool operator==(const Constraints&) const = default;
};

// What things are worth, in micro-units of the intent's currency.
struct Worth {
  int64_t money_permille = 1000;  // of the price; 0 ranks regardless of money
  int64_t carbon_kg = 0;          // a kilogram of CO2e
  int64_t distance_1000km = 0;    // per unit-hour
  bool operator==(const Worth&) const = default;
};

struct Intent {
  Resources shape;    // a unit must cover it
  int32_t units = 1;  // wanted; offers with none free are ruled out
  Currency currency;
  Constraints constraints;
  Worth worth;
  std::optional<Place> near;
  bool operator==(const Intent&) const = default;
};

Status validate(const Intent& intent);

}  // namespace spillway::model
