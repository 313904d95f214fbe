// Deeds: what a machine of the fabric wants done, by whoever hosts it. Machines remember nothing:
// they look at what is wanted and what is there, and say what is missing. So every deed may be done
// twice, may be lost, and may be overtaken by somebody else: the next look tells.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "fabric/liqo/names.h"
#include "model/node.h"

namespace spillway::fabric {

// On what is ours and may be taken down by us.
inline constexpr std::string_view k_owner_label = "spillway.dev/owner";
inline constexpr std::string_view k_owner_fabric = "fabric";

// Where an object is.
struct Place {
  liqo::Kind kind;
  std::string space;  // empty for what has none
  std::string name;
};
// "ResourceSlice sw-… in liqo-tenant-milan": what people are told.
std::string to_text(const Place& at);

struct Create {  // one that is there already is no error
  Place at;
  model::Node object;
};
// A merge patch. Where it names a resourceVersion, it is about that version and no other.
struct Merge {
  Place at;
  model::Node patch;
  bool of_status = false;
};
struct Remove {  // one that is gone is no error
  Place at;
  std::string uid;           // this one, and no other of its name; empty: any
  bool is_forced = false;    // a pod whose kubelet will never say that it has ended
  std::string version = {};  // as it was seen, and not if anybody has changed it since; empty: any
};
// By the Eviction API: a disruption budget may refuse, and then it is asked again.
struct Evict {
  std::string space;
  std::string pod;
};
// The other party of that contract should know this, and has shown no sign of it yet. Whoever says
// it does so once, again when it has changed, and again after a while.
struct Say {
  ContractId contract;
  std::string step;
  std::string body;
  Instant worthless = k_last_instant;  // from then on nobody needs to hear it
};
using Deed = std::variant<Create, Merge, Remove, Evict, Say>;

// How long one side waits for the other to take down what only that one can.
inline constexpr Duration k_patience = minutes(1);

// What will not come right by itself: told once, by name, to whoever runs the cluster.
struct Trouble {
  std::string thing;   // "unit 01…-0", "tenant milan"
  std::string reason;  //
  std::string next;    // what somebody may do about it
  bool operator==(const Trouble&) const = default;
};

// Something that is kept as it was made, and whether it is so. What it is to be may change by
// itself: whoever hosts the machine tells of it when it is another and that has not changed.
struct Kept {
  Place at;
  size_t wanted = 0;  // a hash of all that it is to have
  bool is_right = true;
};

// How far a unit is; each step is seen, not remembered.
enum class UnitStep {
  asked,     // its request is with the provider, or on its way
  recorded,  // the provider has written it down
  carried,   // its slice is there
  granted,   // by the provider
  spare,     // at zero, its node is there: one grant from Ready
  made,      // its node is there, not Ready
  ready,
  draining,
  ending,  // nothing runs there any more
  gone,
};
std::string_view to_text(UnitStep step);

struct UnitProgress {
  std::string unit;
  UnitStep step = UnitStep::asked;
  bool operator==(const UnitProgress&) const = default;
};

struct Plan {
  std::vector<Deed> deeds;  // independent of each other
  std::vector<Trouble> troubles;
  std::vector<UnitProgress> units;
  std::vector<Kept> kept = {};
  // Of the buyer's account (fabric/account.h): whoever hosts the machine asks for one, and keeps it
  // in memory alone.
  bool needs_token = false;
  std::optional<Instant> look_again;  // when something is due that no change will tell

  void look_by(Instant time) {
    if (!look_again || time < *look_again) look_again = time;
  }
};

}  // namespace spillway::fabric
