// How a mailbox's state is written (model/codec.h), for whoever has it inside a state of its own.
#pragma once

#include "model/fields.h"
#include "model/message.h"
#include "model/validation.h"
#include "services/agent/mailbox_state.h"

namespace spillway::agent {

template <class F>
void fields(F& f, Outgoing& o) {
  f.required("sequence", o.sequence);
  f.required("step", o.step);
  f.required("envelope", o.envelope);
  f.required("expires", o.expires);
}

template <class F>
void fields(F& f, Correspondence& c) {
  f.required("sent", c.sent);
  f.required("seen", c.seen);
  f.with_default("unsent", c.unsent);
}

template <class F>
void fields(F& f, MailboxState& s) {
  f.with_default("contracts", s.contracts);
}

inline Status validate(const Correspondence& c) {
  SPILLWAY_TRY(model::check_range("sent", c.sent, 0, INT64_MAX));
  SPILLWAY_TRY(model::check_range("seen", c.seen, 0, INT64_MAX));
  int64_t last = 0;
  for (size_t i = 0; i < c.unsent.size(); ++i) {
    const int64_t sequence = c.unsent[i].sequence;
    SPILLWAY_TRY(
        model::under("unsent", i, model::check_range("sequence", sequence, last + 1, c.sent)));
    last = sequence;
  }
  return {};
}

inline Status validate(const MailboxState& state) {
  for (const auto& [id, correspondence] : state.contracts) {
    SPILLWAY_TRY(model::under("contracts", model::under(id.text, validate(correspondence))));
  }
  return {};
}

}  // namespace spillway::agent
