#include "model/intent.h"

#include <algorithm>

#include "base/text.h"
#include "model/limits.h"
#include "model/price.h"
#include "model/validation.h"

namespace spillway::model {

Status validate(const LabelConstraint& constraint) {
  SPILLWAY_TRY(check_label_key("key", constraint.key));
  const bool takes_values = constraint.op == Operator::in || constraint.op == Operator::not_in;
  if (takes_values && constraint.values.empty()) {
    return refuse("values", "none is given to compare with", "list at least one value");
  }
  if (!takes_values && !constraint.values.empty()) {
    return refuse("values", "exists and absent compare with no value", "leave values out");
  }
  SPILLWAY_TRY(check_size("values", constraint.values.size(), k_max_names));
  for (size_t i = 0; i < constraint.values.size(); ++i) {
    SPILLWAY_TRY(under("values", i, check_label_value("", constraint.values[i])));
  }
  return {};
}

bool holds(const LabelConstraint& constraint, const Labels& labels) {
  const std::string* value = find_label(labels, constraint.key);
  const auto& values = constraint.values;
  const bool listed =
      value != nullptr && std::find(values.begin(), values.end(), *value) != values.end();
  switch (constraint.op) {
    case Operator::in:
      return listed;
    case Operator::not_in:
      return !listed;
    case Operator::exists:
      return value != nullptr;
    case Operator::absent:
      return value == nullptr;
  }
  return false;
}

namespace {

Status check_clusters(std::string_view path, const std::vector<ClusterId>& clusters) {
  SPILLWAY_TRY(check_size(path, clusters.size(), k_max_listed));
  for (size_t i = 0; i < clusters.size(); ++i) {
    SPILLWAY_TRY(under(path, i, at("", check_cluster_id(clusters[i].text))));
  }
  return {};
}

Status validate(const Constraints& constraints) {
  SPILLWAY_TRY(check_size("labels", constraints.labels.size(), k_max_names));
  for (size_t i = 0; i < constraints.labels.size(); ++i) {
    SPILLWAY_TRY(under("labels", i, validate(constraints.labels[i])));
  }
  SPILLWAY_TRY(check_size("countries", constraints.countries.size(), k_max_listed));
  for (size_t i = 0; i < constraints.countries.size(); ++i) {
    SPILLWAY_TRY(under("countries", i, check_country("", constraints.countries[i])));
  }
  SPILLWAY_TRY(check_clusters("providers", constraints.providers));
  SPILLWAY_TRY(check_clusters("excluded_providers", constraints.excluded_providers));
  SPILLWAY_TRY(check_size("tolerated_taints", constraints.tolerated_taints.size(), k_max_names));
  for (size_t i = 0; i < constraints.tolerated_taints.size(); ++i) {
    SPILLWAY_TRY(
        under("tolerated_taints", i, check_label_key("", constraints.tolerated_taints[i])));
  }
  if (constraints.max_unit_hour) {
    SPILLWAY_TRY(check_amount("max_unit_hour", *constraints.max_unit_hour));
  }
  if (constraints.max_carbon) {
    SPILLWAY_TRY(check_range("max_carbon", *constraints.max_carbon, 0, k_max_carbon));
  }
  if (constraints.max_distance_metres) {
    SPILLWAY_TRY(check_range("max_distance_metres", *constraints.max_distance_metres, 0,
                             k_max_distance_metres));
  }
  if (constraints.min_lease) {
    SPILLWAY_TRY(check_range("min_lease", *constraints.min_lease, Duration{0}, k_longest_lease));
  }
  return {};
}

}  // namespace

Status validate(const Intent& intent) {
  SPILLWAY_TRY(under("shape", validate(intent.shape)));
  if (intent.shape.is_zero()) {
    return refuse("shape", "it asks for no resource at all", "give cpu and memory at least");
  }
  SPILLWAY_TRY(check_range("units", intent.units, 1, k_max_units));
  SPILLWAY_TRY(check_currency("currency", intent.currency));
  SPILLWAY_TRY(under("constraints", validate(intent.constraints)));
  SPILLWAY_TRY(check_range("worth.money", intent.worth.money_permille, 0, k_max_permille));
  SPILLWAY_TRY(check_amount("worth.carbon_kg", intent.worth.carbon_kg));
  SPILLWAY_TRY(check_amount("worth.distance_1000km", intent.worth.distance_1000km));
  if (intent.near) SPILLWAY_TRY(under("near", validate(*intent.near)));
  if (intent.constraints.max_distance_metres && !intent.near) {
    return refuse("constraints.max_distance_metres", "a distance needs a place to measure it from",
                  "give near as well");
  }
  return {};
}

}  // namespace spillway::model
