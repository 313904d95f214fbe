// How the nouns are written: one description each, for reading and for writing (model/codec.h).
// Whoever has a noun inside a record of its own includes this; whole documents are read and written
// by model/documents.h, which costs less to include.
#pragma once

#include <array>

#include "model/cluster.h"
#include "model/codec.h"
#include "model/contract.h"
#include "model/identity.h"
#include "model/intent.h"
#include "model/offer.h"
#include "model/pool.h"

namespace spillway::model {

constexpr std::array<Word<PriceBasis>, 2> words_of(PriceBasis) {
  return {{{PriceBasis::reserved, "reserved"}, {PriceBasis::pay_per_use, "pay-per-use"}}};
}
constexpr std::array<Word<Evidence>, 2> words_of(Evidence) {
  return {{{Evidence::claimed, "claimed"}, {Evidence::measured, "measured"}}};
}
constexpr std::array<Word<Enforcement>, 4> words_of(Enforcement) {
  return {{{Enforcement::unknown, "unknown"},
           {Enforcement::none, "none"},
           {Enforcement::partial, "partial"},
           {Enforcement::full, "full"}}};
}
constexpr std::array<Word<OfferKind>, 1> words_of(OfferKind) {
  return {{{OfferKind::capacity, "capacity"}}};
}
constexpr std::array<Word<TaintEffect>, 3> words_of(TaintEffect) {  // as Kubernetes spells them
  return {{{TaintEffect::no_schedule, "NoSchedule"},
           {TaintEffect::prefer_no_schedule, "PreferNoSchedule"},
           {TaintEffect::no_execute, "NoExecute"}}};
}
constexpr std::array<Word<Operator>, 4> words_of(Operator) {
  return {{{Operator::in, "in"},
           {Operator::not_in, "not-in"},
           {Operator::exists, "exists"},
           {Operator::absent, "absent"}}};
}
constexpr std::array<Word<ContractState>, 4> words_of(ContractState) {
  return {{{ContractState::hold, "hold"},
           {ContractState::active, "active"},
           {ContractState::closing, "closing"},
           {ContractState::closed, "closed"}}};
}
constexpr std::array<Word<EndReason>, 6> words_of(EndReason) {
  return {{{EndReason::none, "none"},
           {EndReason::expired, "expired"},
           {EndReason::released, "released"},
           {EndReason::lapsed, "lapsed"},
           {EndReason::noticed, "noticed"},
           {EndReason::reclaimed, "reclaimed"}}};
}

constexpr std::array<Word<Role>, 4> words_of(Role) {
  return {{{Role::provider, "provider"},
           {Role::consumer, "consumer"},
           {Role::operator_, "operator"},
           {Role::viewer, "viewer"}}};
}

// Objects whose keys are data: {"nvidia-a100": 2}, {"zone": "a"}, {"solar": "62.5%"}. Reading
// sorts the first two; the mix keeps the order in which its author listed it.
void read_value(const Spot& at, Counts& counts);
void write_value(Output& out, const Counts& counts);
void read_value(const Spot& at, Labels& labels);
void write_value(Output& out, const Labels& labels);
void read_value(const Spot& at, std::vector<MixShare>& mix);
void write_value(Output& out, const std::vector<MixShare>& mix);
// "everyone", or an object with clusters, labels, both or neither.
void read_value(const Spot& at, Visibility& visibility);
void write_value(Output& out, const Visibility& visibility);

namespace as {
struct Amounts {  // Counts of money: {"nvidia-a100": "1.25"}
  static void read(const Spot& at, Counts& prices);
  static void write(Output& out, const Counts& prices);
};
// NOLINTNEXTLINE(readability-identifier-naming): as those in leaves.h
inline constexpr Amounts amounts;
}  // namespace as

template <class Fields>
void fields(Fields& f, Resources& r) {
  f.with_default("cpu", r.cpu_millis, as::cpu);
  f.with_default("memory", r.memory_bytes, as::bytes);
  f.with_default("pods", r.pods, as::pieces);
  f.with_default("storage", r.storage_bytes, as::bytes);
  f.with_default("gpus", r.gpus);
  f.with_default("extended", r.extended);
}

template <class Fields>
void fields(Fields& f, Price& p) {
  f.required("currency", p.currency);
  f.with_default("basis", p.basis);
  f.with_default("unit_hour", p.unit_hour, as::amount);
  f.with_default("cpu_hour", p.cpu_hour, as::amount);
  f.with_default("memory_gib_hour", p.memory_gib_hour, as::amount);
  f.with_default("storage_gib_hour", p.storage_gib_hour, as::amount);
  f.with_default("gpu_hour", p.gpu_hour, as::amounts);
  f.with_default("extended_hour", p.extended_hour, as::amounts);
  f.with_default("minimum_term", p.minimum_term);
}

template <class Fields>
void fields(Fields& f, Taint& t) {
  f.required("key", t.key);
  f.with_default("value", t.value);
  f.required("effect", t.effect);
}

template <class Fields>
void fields(Fields& f, Place& p) {
  f.required("latitude", p.latitude_microdegrees, as::degrees);
  f.required("longitude", p.longitude_microdegrees, as::degrees);
  f.with_default("country", p.country);
  f.with_default("region", p.region);
  f.with_default("city", p.city);
}

template <class Fields>
void fields(Fields& f, Network& n) {
  f.with_default("bandwidth_mbit", n.bandwidth_mbit);
  f.with_default("egress_gib_price", n.egress_gib_price, as::amount);
  f.with_default("behind_nat", n.behind_nat);
  f.with_default("probe", n.probe);
}

template <class Fields>
void fields(Fields& f, Provenance& p) {
  f.required("source", p.source);
  f.required("as_of", p.as_of);
  f.with_default("evidence", p.evidence);
}

template <class Fields>
void fields(Fields& f, Energy& e) {
  f.required("carbon_now", e.carbon_now);
  f.with_default("carbon_forecast", e.carbon_forecast);
  f.with_default("mix", e.mix);
  f.optional("unit_milliwatts", e.unit_milliwatts);
  f.required("provenance", e.provenance);
}

template <class Fields>
void fields(Fields& f, Terms& t) {
  f.with_default("lease", t.lease, Terms{}.lease);
  f.with_default("notice", t.notice, Terms{}.notice);
  f.with_default("drain", t.drain, Terms{}.drain);
  f.with_default("grace", t.grace, Terms{}.grace);
  f.with_default("fence", t.fence, Terms{}.fence);
}

template <class Fields>
void fields(Fields& f, Pool& p) {
  f.required("id", p.id);
  f.required("node", p.node);
  f.required("capacity", p.capacity);
}

template <class Fields>
void fields(Fields& f, Offer& o) {
  f.required("id", o.id);
  f.required("pool", o.pool);
  f.with_default("kind", o.kind);
  f.required("shape", o.shape);
  f.required("price", o.price);
  f.with_default("labels", o.labels);
  f.with_default("taints", o.taints);
  f.required("place", o.place);
  f.with_default("network", o.network);
  f.optional("energy", o.energy);
  f.with_default("visibility", o.visibility);
  f.with_default("terms", o.terms);
  f.optional("until", o.until);
  f.with_default("enforcement", o.enforcement);
}

template <class Fields>
void fields(Fields& f, Quota& q) {
  f.optional("units", q.units);
  f.optional("open_holds", q.open_holds);
  f.optional("cpu", q.cpu_millis, as::cpu);
  f.optional("memory", q.memory_bytes, as::bytes);
  f.optional("pods", q.pods, as::pieces);
  f.optional("storage", q.storage_bytes, as::bytes);
  f.with_default("gpus", q.gpus);
  f.with_default("extended", q.extended);
}

template <class Fields>
void fields(Fields& f, Budget& b) {
  f.required("limit", b.limit);
  f.required("from", b.from);
}

template <class Fields>
void fields(Fields& f, Cluster& c) {
  f.required("id", c.id);
  f.with_default("labels", c.labels);
  f.with_default("quota", c.quota);
  f.optional("budget", c.budget);
}

template <class Fields>
void fields(Fields& f, Identity& i) {
  f.required("name", i.name);
  f.required("roles", i.roles);
  f.required("key", i.key);
  f.required("certificate", i.certificate);
  f.required("not_after", i.not_after);
  f.required("since", i.since);
  f.optional("revoked", i.revoked);
}

template <class Fields>
void fields(Fields& f, Use& u) {
  f.with_default("cpu_core_ms", u.cpu_core_ms);
  f.with_default("memory_mib_s", u.memory_mib_s);
  f.with_default("storage_mib_s", u.storage_mib_s);
  f.with_default("gpu_ms", u.gpu_ms);
  f.with_default("extended_ms", u.extended_ms);
}

template <class Fields>
void fields(Fields& f, Unit& u) {
  f.required("number", u.number);
  f.with_default("live", u.live, true);
  f.optional("ended", u.ended);
  f.with_default("reserved", u.reserved, as::amount);
  f.with_default("charged", u.charged, as::amount);
  f.with_default("charged_for_use", u.charged_for_use, as::amount);
  f.with_default("metered", u.metered);
  f.optional("bought", u.bought);
}

template <class Fields>
void fields(Fields& f, Contract& c) {
  f.required("id", c.id);
  f.required("buyer", c.buyer);
  f.required("provider", c.provider);
  f.required("pool", c.pool);
  f.required("offer", c.offer);
  f.required("state", c.state);
  f.with_default("reason", c.reason);
  f.required("shape", c.shape);
  f.required("price", c.price);
  f.required("rate", c.rate, as::amount);
  f.with_default("terms", c.terms);
  f.required("units", c.units);
  f.with_default("spare", c.spare, false);
  f.required("created", c.created);
  f.optional("started", c.started);
  f.required("deadline", c.deadline);
  f.with_default("outage_mark", c.outage_mark);
  f.with_default("grace_used", c.grace_used);
  f.optional("ending_notice", c.ending_notice);
  f.with_default("agreement", c.agreement);
}

template <class Fields>
void fields(Fields& f, LabelConstraint& c) {
  f.required("key", c.key);
  f.with_default("operator", c.op);
  f.with_default("values", c.values);
}

template <class Fields>
void fields(Fields& f, Constraints& c) {
  f.with_default("labels", c.labels);
  f.with_default("countries", c.countries);
  f.with_default("providers", c.providers);
  f.with_default("excluded_providers", c.excluded_providers);
  f.with_default("tolerated_taints", c.tolerated_taints);
  f.with_default("tolerate_all_taints", c.tolerate_all_taints);
  f.optional("max_unit_hour", c.max_unit_hour, as::amount);
  f.optional("max_carbon", c.max_carbon);
  f.optional("max_distance_metres", c.max_distance_metres);
  f.optional("min_lease", c.min_lease);
}

template <class Fields>
void fields(Fields& f, Worth& w) {
  f.with_default("money", w.money_permille, Worth{}.money_permille, as::share);
  f.with_default("carbon_kg", w.carbon_kg, as::amount);
  f.with_default("distance_1000km", w.distance_1000km, as::amount);
}

template <class Fields>
void fields(Fields& f, Intent& i) {
  f.required("shape", i.shape);
  f.with_default("units", i.units, 1);
  f.required("currency", i.currency);
  f.with_default("constraints", i.constraints);
  f.with_default("worth", i.worth);
  f.optional("near", i.near);
}

}  // namespace spillway::model
