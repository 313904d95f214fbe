// What a driver's face tells: units, peerings, and what happens to them, as JSON
// (api/driver.yaml has it in OpenAPI).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/death.h"
#include "fabric/deed.h"
#include "model/fields.h"
#include "services/driver/order.h"

namespace spillway::fabric {

constexpr std::array<model::Word<UnitStep>, 10> words_of(UnitStep) {
  return {{{UnitStep::asked, "asked"},
           {UnitStep::recorded, "recorded"},
           {UnitStep::carried, "carried"},
           {UnitStep::granted, "granted"},
           {UnitStep::spare, "spare"},
           {UnitStep::made, "made"},
           {UnitStep::ready, "ready"},
           {UnitStep::draining, "draining"},
           {UnitStep::ending, "ending"},
           {UnitStep::gone, "gone"}}};
}
constexpr std::array<model::Word<Life>, 4> words_of(Life) {
  return {{{Life::unknown, "unknown"},
           {Life::alive, "alive"},
           {Life::doubted, "doubted"},
           {Life::dead, "dead"}}};
}
template <class F>
void fields(F& f, Trouble& t) {
  f.required("thing", t.thing);
  f.required("reason", t.reason);
  f.with_default("next", t.next);
}

}  // namespace spillway::fabric

namespace spillway::driver {

struct StepSeen {
  fabric::UnitStep step = fabric::UnitStep::asked;
  Instant at;
  bool operator==(const StepSeen&) const = default;
};
template <class F>
void fields(F& f, StepSeen& s) {
  f.required("step", s.step);
  f.required("at", s.at);
}

struct UnitDocument {
  std::string unit;
  UnitOrder order;  // with the provider id that its node has
  fabric::UnitStep step = fabric::UnitStep::asked;
  Instant since;
  std::optional<Instant> ending = {};  // since when it is to end
  std::vector<StepSeen> steps = {};    // so far, the oldest first
  std::vector<fabric::Trouble> troubles = {};
  bool operator==(const UnitDocument&) const = default;

  // As it was ordered: there is nothing to wait for.
  bool is_settled() const {
    using fabric::UnitStep;
    if (ending) return step == UnitStep::gone;
    return step == UnitStep::ready || (order.spare && step == UnitStep::spare);
  }
};
template <class F>
void fields(F& f, UnitDocument& d) {
  f.required("unit", d.unit);
  fields(f, d.order);
  f.required("step", d.step);
  f.required("since", d.since);
  f.optional("ending", d.ending);
  f.required("steps", d.steps);
  f.required("troubles", d.troubles);
}

struct UnitPage {
  std::vector<UnitDocument> units;
  std::string next;  // empty: there are no more
};
template <class F>
void fields(F& f, UnitPage& p) {
  f.required("units", p.units);
  f.with_default("next", p.next);
}

struct PeeringDocument {
  std::string consumer;
  std::string provider;
  bool open = false;                          // it stands: one more unit is one slice
  bool kept = false;                          // asked for by itself
  std::optional<Instant> until = {};          // then it is not, any more
  bool closing = false;                       // somebody wants it to end
  fabric::Life life = fabric::Life::unknown;  // of the provider, as the consumer sees it
  std::vector<std::string> units = {};        // that live there
  std::vector<fabric::Trouble> troubles = {};
  bool operator==(const PeeringDocument&) const = default;

  std::string name() const { return consumer + "/" + provider; }
};
template <class F>
void fields(F& f, PeeringDocument& d) {
  f.required("consumer", d.consumer);
  f.required("provider", d.provider);
  f.required("open", d.open);
  f.required("kept", d.kept);
  f.optional("until", d.until);
  f.required("closing", d.closing);
  f.required("life", d.life);
  f.required("units", d.units);
  f.required("troubles", d.troubles);
}

struct PeeringPage {
  std::vector<PeeringDocument> peerings;
  std::string next;
};
template <class F>
void fields(F& f, PeeringPage& p) {
  f.required("peerings", p.peerings);
  f.with_default("next", p.next);
}

enum class EventKind { step, trouble, mended };
constexpr std::array<model::Word<EventKind>, 3> words_of(EventKind) {
  return {
      {{EventKind::step, "step"}, {EventKind::trouble, "trouble"}, {EventKind::mended, "mended"}}};
}

// A unit has taken a step; or something is wrong with it or its peering, or is no more.
struct Event {
  int64_t sequence = 0;
  Instant at = {};
  EventKind kind = EventKind::step;
  std::string consumer;
  std::string provider;
  std::string unit = {};                      // empty: of the peering
  std::optional<fabric::UnitStep> step = {};  // of a unit
  std::optional<fabric::Trouble> trouble = {};
  bool operator==(const Event&) const = default;
};
template <class F>
void fields(F& f, Event& e) {
  f.required("sequence", e.sequence);
  f.required("at", e.at);
  f.required("kind", e.kind);
  f.required("consumer", e.consumer);
  f.required("provider", e.provider);
  f.with_default("unit", e.unit);
  f.optional("step", e.step);
  f.optional("trouble", e.trouble);
}

}  // namespace spillway::driver
