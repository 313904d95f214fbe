#include "fabric/deed.h"

#include <fmt/format.h>

#include "base/check.h"

namespace spillway::fabric {

std::string to_text(const Place& at) {
  const std::string in = at.space.empty() ? std::string() : " in " + at.space;
  return fmt::format("{} {}{}", at.kind.kind, at.name, in);
}

std::string_view to_text(UnitStep step) {
  switch (step) {
    case UnitStep::asked:
      return "asked";
    case UnitStep::recorded:
      return "recorded";
    case UnitStep::carried:
      return "carried";
    case UnitStep::granted:
      return "granted";
    case UnitStep::spare:
      return "spare";
    case UnitStep::made:
      return "made";
    case UnitStep::ready:
      return "ready";
    case UnitStep::draining:
      return "draining";
    case UnitStep::ending:
      return "ending";
    case UnitStep::gone:
      return "gone";
  }
  SPILLWAY_CHECK(false, "a step without a word");
}

}  // namespace spillway::fabric
