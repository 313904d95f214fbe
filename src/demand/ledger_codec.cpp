#include "demand/ledger_codec.h"

#include "model/codec.h"
#include "model/fields.h"

namespace spillway::demand {

constexpr std::array<model::Word<UnitState>, 4> words_of(UnitState) {
  return {{{UnitState::creating, "creating"},
           {UnitState::running, "running"},
           {UnitState::failed, "failed"},
           {UnitState::deleting, "deleting"}}};
}

template <class F>
void fields(F& f, Failure& failure) {
  f.required("code", failure.code);
  f.with_default("message", failure.message);
  f.with_default("is_capacity", failure.is_capacity);
}

template <class F>
void fields(F& f, HeldUnit& unit) {
  f.required("contract", unit.contract);
  f.required("number", unit.number);
  f.required("state", unit.state);
  f.optional("failure", unit.failure);
  f.required("since", unit.since);
}

template <class F>
void fields(F& f, Ask& ask) {
  f.required("generation", ask.generation);
  f.required("asked", ask.asked);
  f.with_default("dropped", ask.dropped);
  f.required("since", ask.since);
}

template <class F>
void fields(F& f, GroupState& group) {
  f.required("offer", group.offer);
  f.with_default("is_on_sale", group.is_on_sale);
  f.with_default("free_units", group.free_units);
  f.with_default("asks", group.asks);
  f.with_default("units", group.units);
}

template <class F>
void fields(F& f, LedgerState& state) {
  f.required("cluster", state.cluster);
  f.required("generation", state.generation);
  f.required("groups", state.groups);
}

std::string to_json(const LedgerState& state) { return model::write_json(state); }

Result<LedgerState> ledger_from_json(std::string_view text, std::string_view source) {
  constexpr size_t k_max_bytes = size_t{64} << 20;
  return model::read_json<LedgerState>(text,
                                       model::Heading{.what = source, .max_bytes = k_max_bytes});
}

}  // namespace spillway::demand
