// How a Supply is written (model/codec.h). Costs more to include than supply_file.h.
#pragma once

#include "model/fields.h"
#include "services/agent/supply_file.h"

namespace spillway::agent {

template <class F>
void fields(F& f, Supply& supply) {
  f.with_default("pools", supply.pools);
  f.with_default("offers", supply.offers);
}

}  // namespace spillway::agent
