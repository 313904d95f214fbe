// How the fabric's state is written (model/codec.h), for whoever has it inside a state of its own.
#pragma once

#include "fabric/talk_fields.h"
#include "model/agreement_fields.h"
#include "model/card.h"
#include "model/fields.h"
#include "model/limits.h"
#include "model/validation.h"
#include "services/fabric/fabric_state.h"

namespace spillway::agent {

template <class F>
void fields(F& f, FabricContract& c) {
  f.required("part", c.part);
  f.optional("request", c.request);
  f.optional("tolerable", c.tolerable);
  f.with_default("purchased", c.purchased);
  f.optional("offer", c.offer);
  f.with_default("bare", c.is_bare, false);
  f.with_default("nonce", c.nonce);
  f.optional("proof", c.proof);
  f.optional("recorded", c.recorded);
  f.with_default("ending", c.ending);
}

template <class F>
void fields(F& f, PeerMemory& m) {
  f.optional("idle_since", m.idle_since);
  f.optional("identity", m.identity);
  f.optional("unheard", m.unheard);
  f.optional("dead", m.dead);
  f.with_default("given_up", m.is_given_up, false);
  f.with_default("turns", m.turns, int64_t{0});
  f.with_default("fence", m.fence, Duration{});
}

template <class F>
void fields(F& f, NetworkMemory& m) {
  f.optional("heard", m.heard);
}

template <class F>
void fields(F& f, FabricState& s) {
  f.with_default("contracts", s.contracts);
  f.with_default("bought_from", s.bought_from);
  f.with_default("sold_to", s.sold_to);
  f.with_default("networks", s.networks);
}

inline Status validate(const FabricContract& c) {
  SPILLWAY_TRY(model::check_liqo_id("part.buyer", c.part.buyer));
  SPILLWAY_TRY(model::check_liqo_id("part.provider", c.part.provider));
  SPILLWAY_TRY(model::check_size("part.unit_requests", c.part.unit_requests.size(),
                                 static_cast<size_t>(model::k_max_units)));
  for (const auto& [unit, since] : c.ending) SPILLWAY_TRY(model::check_time("ending", since));
  SPILLWAY_TRY(
      model::check_size("purchased", c.purchased.size(), static_cast<size_t>(model::k_max_units)));
  return c.offer ? model::under("offer", validate(**c.offer)) : Status{};
}

inline Status validate(const FabricState& state) {
  for (const auto& [id, contract] : state.contracts) {
    SPILLWAY_TRY(model::at("contracts", check_contract_id(id.text)));
    SPILLWAY_TRY(model::under("contracts", model::under(id.text, validate(contract))));
  }
  for (const auto* peers : {&state.bought_from, &state.sold_to}) {
    for (const auto& [id, memory] : *peers) {
      SPILLWAY_TRY(model::check_liqo_id("peers", id));
      if (memory.idle_since) SPILLWAY_TRY(model::check_time("idle_since", *memory.idle_since));
      if (memory.unheard) SPILLWAY_TRY(model::check_time("unheard", *memory.unheard));
      if (memory.dead) SPILLWAY_TRY(model::check_time("dead", *memory.dead));
      SPILLWAY_TRY(model::check_range("fence", memory.fence, Duration{0}, model::k_longest_wait));
    }
  }
  for (const auto& [id, memory] : state.networks) {
    SPILLWAY_TRY(model::check_liqo_id("networks", id));
  }
  return {};
}

}  // namespace spillway::agent
