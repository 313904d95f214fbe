// How a Policy is written (model/codec.h). Costs more to include than policy.h.
#pragma once

#include <array>

#include "model/fields.h"
#include "rank/policy.h"

namespace spillway::rank {

constexpr std::array<model::Word<Profile>, 5> words_of(Profile) {
  return {{{Profile::cheapest, "cheapest"},
           {Profile::greenest, "greenest"},
           {Profile::closest, "closest"},
           {Profile::safest, "safest"},
           {Profile::balanced, "balanced"}}};
}

template <class F>
void fields(F& f, Rules& rules) {
  f.with_default("labels", rules.labels);
  f.with_default("countries", rules.countries);
  f.optional("max_unit_hour", rules.max_unit_hour, model::as::amount);
  f.optional("max_carbon", rules.max_carbon);
  f.optional("max_round_trip", rules.max_round_trip);
  f.optional("max_failures", rules.max_failures, model::as::amount);
  f.optional("max_silence", rules.max_silence);
  f.optional("min_lease", rules.min_lease);
}

template <class F>
void fields(F& f, Providers& providers) {
  f.with_default("allow", providers.allow);
  f.with_default("deny", providers.deny);
}

template <class F>
void fields(F& f, Tier& tier) {
  f.with_default("step", tier.step, model::as::amount);
  f.with_default("money", tier.money_permille, model::as::share);
  f.with_default("carbon_kg", tier.carbon_kg, model::as::amount);
  f.with_default("round_trip_ms", tier.round_trip_ms, model::as::amount);
  f.with_default("failure", tier.failure, model::as::amount);
  f.with_default("silence_minute", tier.silence_minute, model::as::amount);
}

template <class F>
void fields(F& f, PerWindow& caps) {
  f.optional("hour", caps.hour, model::as::amount);
  f.optional("day", caps.day, model::as::amount);
  f.optional("month", caps.month, model::as::amount);
}

template <class F>
void fields(F& f, Caps& caps) {
  f.with_default("money", caps.money);
  f.with_default("carbon_kg", caps.carbon_kg);
}

template <class F>
void fields(F& f, Expectation& expect) {
  f.with_default("time", expect.time, Expectation{}.time);
  f.with_default("egress", expect.egress_bytes, model::as::bytes);
}

// Its fields stand beside those of what it is a part of.
template <class F>
void fields(F& f, PolicyPart& part) {
  f.optional("profile", part.profile);
  f.optional("tiers", part.tiers);
  f.optional("rules", part.rules);
  f.optional("providers", part.providers);
  f.optional("expect", part.expect);
  f.with_default("caps", part.caps);
}

template <class F>
void fields(F& f, WorkloadClass& which) {
  f.required("name", which.name);
  f.with_default("namespaces", which.namespaces);
  f.with_default("labels", which.labels);
  fields(f, which.part);
}

template <class F>
void fields(F& f, Spares& spares) {
  f.required("units", spares.units);
  f.with_default("groups", spares.groups, Spares{}.groups);
  f.with_default("idle", spares.idle, Spares{}.idle);
  f.with_default("unready", spares.unready, Spares{}.unready);
}

template <class F>
void fields(F& f, Policy& policy) {
  f.required("currency", policy.currency);
  f.with_default("failure_half_life", policy.failure_half_life, k_default_half_life);
  fields(f, policy.standard);
  f.with_default("classes", policy.classes);
  f.with_default("spares", policy.spares);
}

}  // namespace spillway::rank
