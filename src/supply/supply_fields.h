// How a Supply is written (model/codec.h). Costs more to include than supply.h.
#pragma once

#include "model/fields.h"
#include "supply/supply.h"

namespace spillway::supply {

template <class F>
void fields(F& f, Supply& supply) {
  f.with_default("pools", supply.pools);
  f.with_default("offers", supply.offers);
}

}  // namespace spillway::supply
