// How parts of commands and answers are written where they travel or are stored (model/codec.h).
#pragma once

#include <array>

#include "market/commands.h"
#include "market/invoice.h"
#include "model/fields.h"

namespace spillway::market {

template <class Fields>
void fields(Fields& f, Grant& g) {
  f.required("contract", g.contract);
  f.required("offer", g.offer);
  f.required("units", g.units);
  f.required("hold_until", g.hold_until);
  f.required("rate", g.rate, model::as::amount);
  f.required("currency", g.currency);
}

template <class Fields>
void fields(Fields& f, Carried& c) {
  f.required("contract", c.contract);
  f.required("units", c.units);
  f.with_default("shape", c.shape);
}

template <class Fields>
void fields(Fields& f, HoldLine& l) {
  f.required("offer", l.offer);
  f.with_default("units", l.units, 1);
  f.with_default("at_least", l.at_least, 1);
  f.with_default("spare", l.spare, false);
}

constexpr std::array<model::Word<LineReason>, 3> words_of(LineReason) {
  return {{{LineReason::used, "used"},
           {LineReason::minimum_term, "minimum-term"},
           {LineReason::metered, "metered"}}};
}
constexpr std::array<model::Word<InvoiceSide>, 2> words_of(InvoiceSide) {
  return {{{InvoiceSide::bought, "bought"}, {InvoiceSide::sold, "sold"}}};
}

template <class Fields>
void fields(Fields& f, InvoiceLine& l) {
  f.required("contract", l.contract);
  f.required("unit", l.unit);
  f.required("buyer", l.buyer);
  f.required("provider", l.provider);
  f.required("offer", l.offer);
  f.required("basis", l.basis);
  f.required("why", l.why);
  f.with_default("running", l.running);
  f.required("from", l.from);
  f.required("to", l.to);
  f.with_default("rate", l.rate, model::as::amount);
  f.with_default("use", l.use);
  f.required("amount", l.amount, model::as::amount);
  f.required("currency", l.currency);
}

template <class Fields>
void fields(Fields& f, InvoiceTotal& t) {
  f.required("side", t.side);
  f.required("counterpart", t.counterpart);
  f.required("currency", t.currency);
  f.required("settled", t.settled, model::as::amount);
  f.required("running", t.running, model::as::amount);
}

}  // namespace spillway::market
