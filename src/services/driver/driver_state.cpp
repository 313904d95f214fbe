#include "services/driver/driver_state.h"

#include "model/codec.h"
#include "model/validation.h"
#include "services/driver/state_size.h"
#include "services/fabric/fabric_fields.h"

namespace spillway::driver {

template <class F>
void fields(F& f, UnitRecord& r) {
  f.required("order", r.order);
  f.required("ordered", r.ordered);
  f.optional("ending", r.ending);
  f.optional("ended", r.ended);
  f.with_default("steps", r.steps);
}

template <class F>
void fields(F& f, PeeringRecord& r) {
  f.required("contract", r.contract);
  f.required("order", r.order);
}

template <class F>
void fields(F& f, DriverState& s) {
  f.with_default("party", s.party);
  f.with_default("units", s.units);
  f.with_default("over", s.over);
  f.with_default("peerings", s.peerings);
  f.with_default("closing", s.closing);
  f.with_default("liqo_ids", s.liqo_ids);
  f.with_default("fabrics", s.fabrics);
}

Status validate(const DriverState& state) {
  for (const auto& [name, unit] : state.units) {
    SPILLWAY_TRY(model::at("units", parse_unit(name).map([](const UnitName&) {})));
    SPILLWAY_TRY(model::under("units", model::under(name, validate(unit.order))));
    SPILLWAY_TRY(model::check_time("ordered", unit.ordered));
  }
  for (const auto& [name, peering] : state.peerings) {
    SPILLWAY_TRY(model::at("peerings", check_owned_id(name)));
    SPILLWAY_TRY(model::at("peerings", check_contract_id(peering.contract.text)));
  }
  for (const auto& [cluster, fabric] : state.fabrics) {
    SPILLWAY_TRY(model::under("fabrics", model::under(cluster, agent::validate(fabric))));
  }
  return {};
}

std::string to_json(const DriverState& state) { return model::write_json(state); }

Result<DriverState> driver_state_from_json(std::string_view text, std::string_view source) {
  auto state = model::read_json<DriverState>(
      text, model::Heading{.what = source, .max_bytes = k_most_state_bytes});
  if (!state) return state;
  for (auto& [name, unit] : state->units) unit.bytes = bytes_of(unit.order);
  return state;
}

agent::StateKind driver_state() {
  return {"driver",
          [](const std::string& json, const std::string& source) {
            return driver_state_from_json(json, source).map([](const DriverState&) {});
          },
          "put back a copy of it; without one, move it away: units that it had ordered end then, "
          "for nobody wants them any more",
          "units that it had ordered end"};
}

}  // namespace spillway::driver
