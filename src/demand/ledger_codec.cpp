#include "demand/ledger_codec.h"

#include "model/codec.h"
#include "model/fields.h"

namespace spillway::demand {

constexpr std::array<model::Word<UnitState>, 5> words_of(UnitState) {
  return {{{UnitState::creating, "creating"},
           {UnitState::running, "running"},
           {UnitState::failed, "failed"},
           {UnitState::deleting, "deleting"},
           {UnitState::spare, "spare"}}};
}

template <class F>
void fields(F& f, Failure& failure) {
  f.required("code", failure.code);
  f.with_default("message", failure.message);
  f.with_default("is_capacity", failure.is_capacity);
  f.with_default("is_providers", failure.is_providers);
}

template <class F>
void fields(F& f, Use& use) {
  f.with_default("workload_class", use.workload_class);
  f.required("currency", use.currency);
  f.required("rate", use.rate);
  f.with_default("milliwatt_grams", use.milliwatt_grams);
  f.with_default("minimum_term", use.minimum_term);
  f.required("started", use.started);
}

template <class F>
void fields(F& f, PastHour& past) {
  f.required("hour", past.hour);
  f.with_default("workload_class", past.workload_class);
  f.required("currency", past.currency);
  f.with_default("money", past.money);
  f.with_default("milligrams", past.milligrams);
}

template <class F>
void fields(F& f, Tried& tried) {
  f.with_default("failures_micros", tried.failures_micros);
  f.required("as_of", tried.as_of);
}

template <class F>
void fields(F& f, HeldUnit& unit) {
  f.required("contract", unit.contract);
  f.required("number", unit.number);
  f.required("state", unit.state);
  f.optional("failure", unit.failure);
  f.required("since", unit.since);
  f.required("use", unit.use);
  f.with_default("is_spare", unit.is_spare);
}

template <class F>
void fields(F& f, Ask& ask) {
  f.required("generation", ask.generation);
  f.required("asked", ask.asked);
  f.with_default("dropped", ask.dropped);
  f.required("since", ask.since);
  f.required("use", ask.use);
  f.with_default("is_for_spares", ask.is_for_spares);
  f.with_default("contract", ask.contract);
  f.with_default("units", ask.units);
}

template <class F>
void fields(F& f, GroupState& group) {
  f.required("offer", group.offer);
  f.with_default("is_on_sale", group.is_on_sale);
  f.with_default("free_units", group.free_units);
  f.optional("rests_until", group.rests_until);
  f.with_default("asks", group.asks);
  f.with_default("units", group.units);
}

template <class F>
void fields(F& f, LedgerState& state) {
  f.required("cluster", state.cluster);
  f.required("generation", state.generation);
  f.required("groups", state.groups);
  f.with_default("tried", state.tried);
  f.with_default("past", state.past);
}

std::string to_json(const LedgerState& state) { return model::write_json(state); }

Result<LedgerState> ledger_from_json(std::string_view text, std::string_view source) {
  constexpr size_t k_max_bytes = size_t{64} << 20;
  return model::read_json<LedgerState>(text,
                                       model::Heading{.what = source, .max_bytes = k_max_bytes});
}

}  // namespace spillway::demand
