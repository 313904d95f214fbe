// Fence: how a provider knows that a buyer is there, and what it does when it is not (law 6). In
// the buyer's tenant namespace lies a Lease, with a Role that lets the buyer's control plane read
// and renew it and nothing else. The buyer's agent does so over the peering. After the contract's
// fence time without that, guests with identity are stopped, and stay so until the buyer is back:
// it may have begun the same work elsewhere.
//
// How old a renewal is follows from when it was seen here, and from the time that the buyer has
// written into it: a renewal that lay in the queue of an API server that stood still is as old as
// when it was sent. So the buyer's clock can make a renewal older, never younger.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/rights.h"

namespace spillway::fabric {

inline constexpr std::string_view k_fence_name = "spillway-buyer";  // of all three objects
// On the provider's copy of a slice: it is cordoned for the fence's sake, and only for that.
inline constexpr std::string_view k_fenced_annotation = "spillway.dev/fenced";
inline constexpr std::string_view k_fenced_and_cordoned = "cordoned";  // by its operator, before

// Whether work of that kind must not run twice: pods of StatefulSets, and pods with claims. By what
// a guest still has of its pod, so that both sides say the same.
bool has_identity(const model::Node& labels, const model::Node& pod_spec);

struct BuyerLease {
  std::string version;
  Instant renewed;         // by the buyer's clock; at first, when it was made
  int64_t turns = 0;       // how often the buyer has given up on guests here: they run elsewhere
  int64_t settled = 0;     // up to which of these they have been stopped, as we wrote down
  bool is_marked = false;  // with the guard's label, by which a webhook is asked about it
  bool operator==(const BuyerLease&) const = default;
};
Result<BuyerLease> read_buyer_lease(const model::Node& object);
// Of a Lease as a provider's API server sends it. Nothing, if it says nothing that can be read.
int64_t turns_in(std::string_view lease);
// The buyer's part: a merge patch.
model::Node renewal_patch(std::string_view buyer, int64_t turns, Instant now);

// While there are units, what is known of a Lease outlives it: whoever deletes it by hand gives
// nobody more time.
struct FenceSight {
  std::optional<BuyerLease> lease = {};
  Instant seen = {};  // when the lease was last seen to have changed, by our clock
  Right role = Right::absent;
  Right binding = Right::absent;
  bool is_followed = false;            // the lease has been seen to change
  int64_t settled = 0;                 // as it was last seen
  std::optional<Instant> before = {};  // as one was renewed that is gone, until this one is

  bool has_any() const { return lease || role != Right::absent || binding != Right::absent; }
};
Right judge_fence_role(const model::Node& role);
Right judge_fence_binding(const model::Node& binding, std::string_view buyer);

// A Lease was seen, or none any more.
void note_lease(FenceSight& sight, BuyerLease lease, Instant now);
void note_no_lease(FenceSight& sight, bool has_units);

// The objects, where they are missing or altered.
void keep_fence(const std::string& buyer, const FenceSight& sight, Plan& plan);
void remove_fence(const std::string& buyer, const FenceSight& sight, Plan& plan);

// When the buyer was last there.
Instant last_heard(const FenceSight& sight, Duration skew);
// The buyer runs elsewhere what may still run here.
bool is_unsettled(const FenceSight& sight);
Merge settle_fence(const std::string& buyer, const BuyerLease& lease);

}  // namespace spillway::fabric
