// Desk: what a driver's face stands on (services/driver/face.h): a driver with orders of its own,
// or the fabric of one agent, whose units come from contracts.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "services/driver/documents.h"
#include "services/driver/event_window.h"

namespace spillway::driver {

// Which rows of a list, in the order of their names. Only those become documents.
struct Which {
  std::string after = {};
  size_t most = std::numeric_limits<size_t>::max();
  MaySee is_wanted = [](const std::string&, const std::string&) { return true; };
};

class Desk {
 public:
  template <class T>
  using Then = std::function<void(Result<T>)>;

  virtual ~Desk() = default;
  virtual std::optional<UnitDocument> unit(const std::string& name) const = 0;
  // There was such a unit, and what became of it is not told any more.
  virtual bool is_forgotten(const std::string& name) const = 0;
  virtual std::vector<UnitDocument> units(const Which& which) const = 0;
  // What is acknowledged is written down. Conflict: it was ordered otherwise, or has ended. What
  // else is in its way is named only to whoever may see it.
  virtual void order(const std::string& name, const UnitOrder& order, const MaySee& may_see,
                     Then<UnitDocument> then) = 0;
  virtual void end(const std::string& name, Then<UnitDocument> then) = 0;

  virtual std::optional<PeeringDocument> peering(const std::string& consumer,
                                                 const std::string& provider) const = 0;
  virtual std::vector<PeeringDocument> peerings(const Which& which) const = 0;
  virtual void keep(const std::string& consumer, const std::string& provider,
                    const PeeringOrder& order, Then<PeeringDocument> then) = 0;
  // Conflict: units live there.
  virtual void close(const std::string& consumer, const std::string& provider,
                     Then<PeeringDocument> then) = 0;

  virtual EventWindow& events() = 0;
};

}  // namespace spillway::driver
