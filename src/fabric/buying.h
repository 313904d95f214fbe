// What the buyer's machine (fabric/buyer.h) works with while it makes one plan.
#pragma once

#include <string>
#include <string_view>

#include "fabric/buyer.h"

namespace spillway::fabric {

struct Buying {
  const BuyerWish& wish;
  const BuyerSight& sight;
  Instant now;
  std::string space = liqo::tenant_namespace_name(wish.provider);
  Plan plan = {};

  bool is_dead() const { return wish.life.life == Life::dead; }
  Place at(const liqo::Kind& kind, std::string_view name) const {
    return {kind, space, std::string(name)};
  }
  static Place node(std::string_view name) { return {liqo::k_nodes, {}, std::string(name)}; }
  void remove(const Place& place, std::string_view uid = {}) {
    plan.deeds.emplace_back(Remove{place, std::string(uid)});
  }
  void create(const Place& place, model::Node object) {
    plan.deeds.emplace_back(Create{place, std::move(object)});
  }
};

bool is_live(const Purchase& purchase);
// As its provider says.
bool is_recorded(const Purchase& purchase, const std::string& unit);

// The handshake (fabric/buyer_handshake.cpp): what the provider does not have yet is said to it;
// an Identity is made of what it answers, and anew when that has changed.
void ask(Buying& b, const Purchase& purchase);
void settle_identity(Buying& b);

// A unit that is wanted (fabric/buyer_unit.cpp).
void keep(Buying& b, const Purchase& purchase, const BoughtUnit& unit, const BoughtSight& seen);
UnitStep step_of(const Purchase& purchase, const BoughtUnit& unit, const BoughtSight& seen);
// A virtual kubelet is there for it, and stays. What a death left half taken down is made anew
// before anything may come to it.
bool is_served(const BoughtSight& seen);
// True: it still may.
bool keep_liqo_from_making(Buying& b, const liqo::Slice& slice);

// One with identity, which we do not begin elsewhere.
void tell_of_lost_guest(Buying& b, const PodSight& pod, const std::string& why);
// Liqo lets a VirtualNode go when all has ended there, and its Node with it. So where the Node is
// alone, somebody has removed the other by force, and no virtual kubelet will tell of what ran
// there. True: something with identity is bound to it, or it is not known; without the Node
// Kubernetes would begin that elsewhere (law 6). A dead provider's have their fence time.
bool has_lost_guests(Buying& b, const std::string& name, const BoughtSight& seen);

// The end of a unit (fabric/buyer_end.cpp).
struct Ending {
  Instant drained_by;
  Duration fence;
  // It comes back with its provider, unless its slice says that it is to end: so that goes as it
  // was seen, and no other. Whoever has just written it has said so to nobody else.
  bool comes_back = false;
};
UnitStep end(Buying& b, const std::string& name, const BoughtSight& seen, const Ending& how);
// Of one that is astray nothing tells when its pods have ended: they go by force, but for those
// with identity, whose guests may run on where nobody looks. True: there are some, or it is not
// known.
bool clear_astray(Buying& b, const std::string& name, const BoughtSight& seen);

// The end of the peering (fabric/buyer_parting.cpp).
void part(Buying& b);
bool is_foreign_left(const BuyerSight& sight);
bool is_marked_unreachable(const BuyerSight& sight);
void mark_unreachable(Buying& b, bool is_unreachable);

// A slice goes when the provider's copy is gone. If there is nobody to say so, it goes all the
// same; at once if nobody can.
void let_go(Buying& b, const liqo::Kind& kind, const liqo::Meta& meta,
            const std::string& version = {});
// False: something of an identity that is gone is still there, and ends. Liqo does so by itself
// where it may still ask the provider, and makes nothing of another identity before.
bool clear_remnants(Buying& b);

}  // namespace spillway::fabric
