#include <algorithm>
#include <set>

#include "base/text.h"
#include "model/limits.h"
#include "model/price.h"
#include "model/validation.h"
#include "rank/policy.h"

namespace spillway::rank {
namespace {

using model::at;
using model::check_amount;
using model::check_range;
using model::check_size;
using model::refuse;
using model::under;

constexpr size_t k_most_classes = 64;
constexpr int32_t k_most_spares = 32;  // of one buyer, by the book's rules
constexpr int32_t k_most_unready = 1000;
constexpr Duration k_longest_idle = hours(30 * 24);
constexpr Duration k_shortest_half_life = minutes(1);
constexpr Duration k_longest_half_life = hours(90 * 24);
constexpr int64_t k_most_failures = 1'000'000'000;  // a thousand

Status check_constraints(std::string_view path,
                         const std::vector<model::LabelConstraint>& constraints) {
  SPILLWAY_TRY(check_size(path, constraints.size(), model::k_max_names));
  for (size_t i = 0; i < constraints.size(); ++i) {
    SPILLWAY_TRY(under(path, i, validate(constraints[i])));
  }
  return {};
}

Status check_rules(const Rules& rules) {
  SPILLWAY_TRY(check_constraints("labels", rules.labels));
  SPILLWAY_TRY(check_size("countries", rules.countries.size(), model::k_max_listed));
  for (size_t i = 0; i < rules.countries.size(); ++i) {
    SPILLWAY_TRY(under("countries", i, model::check_country("", rules.countries[i])));
  }
  SPILLWAY_TRY(check_amount("max_unit_hour", rules.max_unit_hour.value_or(0)));
  SPILLWAY_TRY(check_range("max_carbon", rules.max_carbon.value_or(0), 0, model::k_max_carbon));
  SPILLWAY_TRY(check_range("max_round_trip", rules.max_round_trip.value_or(Duration{0}),
                           Duration{0}, minutes(1)));
  if (rules.max_failures && (*rules.max_failures < 0 || *rules.max_failures > k_most_failures)) {
    return refuse("max_failures", micros_to_text(*rules.max_failures) + " is out of range",
                  "use 0 to " + micros_to_text(k_most_failures));
  }
  SPILLWAY_TRY(check_range("max_silence", rules.max_silence.value_or(Duration{0}), Duration{0},
                           model::k_longest_wait));
  return check_range("min_lease", rules.min_lease.value_or(Duration{0}), Duration{0},
                     model::k_longest_lease);
}

Status check_providers(const Providers& providers) {
  for (const auto* list : {&providers.allow, &providers.deny}) {
    const std::string_view path = list == &providers.allow ? "allow" : "deny";
    SPILLWAY_TRY(check_size(path, list->size(), model::k_max_listed));
    for (size_t i = 0; i < list->size(); ++i) {
      SPILLWAY_TRY(under(path, i, at("", check_cluster_id((*list)[i].text))));
    }
  }
  for (size_t i = 0; i < providers.deny.size(); ++i) {
    const ClusterId& denied = providers.deny[i];
    if (std::find(providers.allow.begin(), providers.allow.end(), denied) ==
        providers.allow.end()) {
      continue;
    }
    return under(
        "deny", i,
        refuse("", in_quotes(denied.text) + " is allowed as well", "keep it in one of the two"));
  }
  return {};
}

Status check_tier(const Tier& tier) {
  SPILLWAY_TRY(check_amount("step", tier.step));
  SPILLWAY_TRY(check_range("money", tier.money_permille, 0, model::k_max_permille));
  SPILLWAY_TRY(check_amount("carbon_kg", tier.carbon_kg));
  SPILLWAY_TRY(check_amount("round_trip_ms", tier.round_trip_ms));
  SPILLWAY_TRY(check_amount("failure", tier.failure));
  SPILLWAY_TRY(check_amount("silence_minute", tier.silence_minute));
  if (tier == Tier{.step = tier.step}) {
    return refuse("", "it weighs nothing",
                  "give money, carbon_kg, round_trip_ms, failure or silence_minute a worth");
  }
  return {};
}

Status check_tiers(const std::vector<Tier>& tiers) {
  if (tiers.empty()) return refuse("", "there is none", "list one, such as {money: 100%}");
  SPILLWAY_TRY(check_size("", tiers.size(), k_max_tiers));
  for (size_t i = 0; i < tiers.size(); ++i) SPILLWAY_TRY(under("", i, check_tier(tiers[i])));
  return {};
}

Status check_per_window(const PerWindow& caps) {
  for (const auto* cap : {&caps.hour, &caps.day, &caps.month}) {
    const std::string_view path = cap == &caps.hour ? "hour" : cap == &caps.day ? "day" : "month";
    if (!*cap || (**cap >= 0 && **cap <= model::k_max_charge)) continue;
    return refuse(path, micros_to_text(**cap) + (**cap < 0 ? " is negative" : " is out of range"),
                  "use 0 to " + micros_to_text(model::k_max_charge));
  }
  return {};
}

Status check_part(const PolicyPart& part) {
  if (part.profile && part.tiers) {
    return refuse("profile", "tiers are given as well", "keep one of the two");
  }
  if (part.tiers) SPILLWAY_TRY(under("tiers", check_tiers(*part.tiers)));
  if (part.rules) SPILLWAY_TRY(under("rules", check_rules(*part.rules)));
  if (part.providers) SPILLWAY_TRY(under("providers", check_providers(*part.providers)));
  if (part.expect) {
    SPILLWAY_TRY(
        under("expect", check_range("time", part.expect->time, minutes(1), k_longest_expectation)));
    SPILLWAY_TRY(
        under("expect", check_range("egress", part.expect->egress_bytes, 0, model::k_max_amount)));
  }
  SPILLWAY_TRY(under("caps", under("money", check_per_window(part.caps.money))));
  return under("caps", under("carbon_kg", check_per_window(part.caps.carbon_kg)));
}

Status check_class(const WorkloadClass& which) {
  SPILLWAY_TRY(at("name", check_cluster_id(which.name)));
  if (which.namespaces.empty() && which.labels.empty()) {
    return refuse("", "it matches all work", "name namespaces or labels, or use no class");
  }
  SPILLWAY_TRY(check_size("namespaces", which.namespaces.size(), model::k_max_listed));
  for (size_t i = 0; i < which.namespaces.size(); ++i) {
    SPILLWAY_TRY(under("namespaces", i, at("", check_cluster_id(which.namespaces[i]))));
  }
  SPILLWAY_TRY(check_constraints("labels", which.labels));
  return check_part(which.part);
}

Status check_spares(const Spares& spares) {
  SPILLWAY_TRY(check_range("units", spares.units, 0, k_most_spares));
  SPILLWAY_TRY(check_range("groups", spares.groups, 1, k_most_spares));
  SPILLWAY_TRY(check_range("unready", spares.unready, 0, k_most_unready));
  return check_range("idle", spares.idle, minutes(1), k_longest_idle);
}

}  // namespace

Status validate(const Policy& policy) {
  SPILLWAY_TRY(model::check_currency("currency", policy.currency));
  SPILLWAY_TRY(check_range("failure_half_life", policy.failure_half_life, k_shortest_half_life,
                           k_longest_half_life));
  SPILLWAY_TRY(check_part(policy.standard));
  SPILLWAY_TRY(under("spares", check_spares(policy.spares)));
  SPILLWAY_TRY(check_size("classes", policy.classes.size(), k_most_classes));
  std::set<std::string_view> names;
  for (size_t i = 0; i < policy.classes.size(); ++i) {
    SPILLWAY_TRY(under("classes", i, check_class(policy.classes[i])));
    if (names.insert(policy.classes[i].name).second) continue;
    return under("classes", i,
                 refuse("name", in_quotes(policy.classes[i].name) + " is there twice",
                        "give each class a name of its own"));
  }
  return {};
}

}  // namespace spillway::rank
