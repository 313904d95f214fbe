// How an OfferingPolicy is written (model/codec.h). Costs more to include than policy.h.
#pragma once

#include <array>

#include "model/fields.h"
#include "supply/policy.h"

namespace spillway::supply {

constexpr std::array<model::Word<Weekday>, 7> words_of(Weekday) {
  return {{{Weekday::mon, "mon"},
           {Weekday::tue, "tue"},
           {Weekday::wed, "wed"},
           {Weekday::thu, "thu"},
           {Weekday::fri, "fri"},
           {Weekday::sat, "sat"},
           {Weekday::sun, "sun"}}};
}

void read_value(const model::Spot& at, TimeOfDay& time);
void write_value(model::Output& out, const TimeOfDay& time);

template <class F>
void fields(F& f, Window& window) {
  f.with_default("days", window.days);
  f.with_default("from", window.from);
  f.with_default("to", window.to, Window{}.to);
}

template <class F>
void fields(F& f, Headroom& headroom) {
  fields(f, headroom.amount);
  f.with_default("share", headroom.share_permille, model::as::share);
}

template <class F>
void fields(F& f, Cap& cap) {
  f.optional("cpu", cap.cpu_millis, model::as::cpu);
  f.optional("memory", cap.memory_bytes, model::as::bytes);
  f.optional("pods", cap.pods, model::as::pieces);
  f.optional("storage", cap.storage_bytes, model::as::bytes);
  f.with_default("gpus", cap.gpus);
  f.with_default("extended", cap.extended);
}

template <class F>
void fields(F& f, PoolQuota& quota) {
  f.with_default("share", quota.share_permille, PoolQuota{}.share_permille, model::as::share);
  f.with_default("most", quota.most);
}

template <class F>
void fields(F& f, Step& step) {
  f.required("name", step.name);
  f.required("shape", step.shape);
  f.optional("price", step.price);
  f.optional("visibility", step.visibility);
  f.with_default("gpu_nodes", step.gpu_nodes);
}

template <class F>
void fields(F& f, TaintRule& rule) {
  f.required("key", rule.key);
  f.optional("value", rule.value);
  f.optional("effect", rule.effect);
  f.with_default("pass", rule.pass, TaintRule{}.pass);
}

template <class F>
void fields(F& f, PassedLabels& labels) {
  f.with_default("pass", labels.pass);
  f.with_default("add", labels.add);
}

template <class F>
void fields(F& f, GuestRule& guests) {
  f.with_default("labels", guests.labels, liqo_guest_labels());
  f.with_default("namespaces", guests.namespaces);
}

template <class F>
void fields(F& f, OfferingPolicy& policy) {
  f.with_default("nodes", policy.nodes);
  f.with_default("headroom", policy.headroom);
  f.with_default("quota", policy.quota);
  f.required("ladder", policy.ladder);
  f.required("price", policy.price);
  f.with_default("hours", policy.hours);
  f.with_default("taints", policy.taints);
  f.with_default("labels", policy.labels);
  f.with_default("gpu_models", policy.gpu_models);
  f.with_default("guests", policy.guests);
  f.required("place", policy.place);
  f.with_default("network", policy.network);
  f.optional("energy", policy.energy);
  f.with_default("visibility", policy.visibility);
  f.with_default("terms", policy.terms);
}

}  // namespace spillway::supply
