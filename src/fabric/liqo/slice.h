// ResourceSlice: one unit as Liqo carries it. The buyer makes it, Liqo copies it to the provider
// and signs its request there at once; what it is granted is the decision of the class's
// controller, who is our agent. The answer travels back in the status.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "fabric/liqo/names.h"
#include "fabric/liqo/parts.h"
#include "model/node.h"

namespace spillway::fabric::liqo {

inline constexpr std::string_view k_authentication_condition = "Authentication";
inline constexpr std::string_view k_resources_condition = "Resources";
inline constexpr std::string_view k_accepted = "Accepted";
inline constexpr std::string_view k_denied = "Denied";

// Everything that a class's controller may say.
struct Grant {
  Amounts amounts;
  Texts node_labels;
  // Applied by the buyer's side: whoever sells to strangers enforces it as well.
  Texts node_selector;
  std::vector<OfferedClass> storage;
  std::vector<OfferedClass> ingress;
  std::vector<OfferedClass> load_balancer;
  bool operator==(const Grant&) const = default;
};

struct Slice {
  static constexpr const Kind& k_kind = k_slices;
  Meta meta;
  std::string buyer;     // cluster ids; Liqo fills the buyer's in when it is missing
  std::string provider;  //
  std::string class_name;
  std::string request;  // PEM; Liqo makes one when it is missing
  Amounts wanted;
  Conditions conditions;             // status from here on
  std::optional<AuthParams> access;  //
  Grant grant;                       //
  std::string unreadable = {};       // why not all of it was read (see_slice); empty: all was
  bool operator==(const Slice&) const = default;

  bool is_accepted(std::string_view condition) const {
    return status_of(conditions, condition) == k_accepted;
  }
};

struct NewSlice {
  std::string name;
  std::string buyer;
  std::string provider;
  std::string request;  // preset, so that the copy is whole when it arrives
  Amounts wanted;
};
// At the buyer, in our class. `with_node`: Liqo makes the VirtualNode when there is none.
Slice new_slice(NewSlice wanted, bool with_node = true);
Result<Slice> read_slice(const model::Node& object);
// Whatever either side has written into it, it is there, and can be ended.
Slice see_slice(const model::Node& object, std::span<const std::string_view> words);
model::Node to_object(const Slice& slice);

// As the provider's API server has it: a copy of what that buyer has made, with all the labels of
// one. The rest of it is to be held against the contract.
Status check_replica(const Slice& slice, std::string_view buyer, std::string_view provider);

// Merge patches of the replica. A decision is about the version that was read: whoever was faster
// makes it fail with a conflict. Zero while accepted stops new guests and makes the node NotReady;
// a denial after an acceptance would revoke nothing.
model::Node grant_patch(const Slice& replica, const Grant& grant, Instant now);  // of the status
model::Node denial_patch(const Slice& replica, std::string_view reason,
                         Instant now);    // of the status, never after a grant
model::Node cordon_patch(bool cordoned);  // of the object

// Of the buyer's slice: its VirtualNode is not made again when it is deleted.
model::Node keep_without_node_patch();
// And: it is made if it is missing, and given what is granted.
model::Node keep_with_node_patch();

}  // namespace spillway::fabric::liqo
