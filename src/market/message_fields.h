// How parts of commands and answers are written where they travel or are stored (model/codec.h).
#pragma once

#include "market/commands.h"
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
}

}  // namespace spillway::market
