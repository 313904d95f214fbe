#include "fabric/seller.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "fabric/mending.h"
#include "fabric/selling.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

constexpr Duration k_fenced_look = seconds(5);

bool is_zero(const liqo::Amounts& amounts) {
  return std::all_of(amounts.begin(), amounts.end(),
                     [](const auto& one) { return one.second == 0; });
}

liqo::Grant zeroed(liqo::Grant grant) {
  for (auto& one : grant.amounts) one.second = 0;
  return grant;
}

bool is_granted(const liqo::Slice& slice) { return slice.is_accepted(liqo::k_resources_condition); }

void cordon(Selling& s, const liqo::Slice& slice) {
  if (slice.meta.annotation(liqo::k_cordon_annotation) == "true") return;
  s.plan.deeds.emplace_back(Merge{s.at(liqo::k_slices, slice.meta.name), liqo::cordon_patch(true)});
}

void sweep(Selling& s, const std::vector<Place>& guests) {
  for (const Place& guest : guests) s.plan.deeds.emplace_back(Remove{guest, {}});
}

// The buyer has not been heard for that contract's fence time, or runs elsewhere what runs here.
bool is_fenced(Selling& s, const Sale& sale) {
  const FenceSight& fence = s.sight.fence;
  if (!fence.lease) return false;
  if (is_unsettled(fence)) return true;
  const Instant until = last_heard(fence, s.wish.skew) + sale.fence;
  const bool is_over = until <= s.now;
  // A renewal is no news by itself: whoever is fenced off is looked at again.
  s.plan.look_by(is_over ? s.now + k_fenced_look : until);
  return is_over;
}

void mark_fenced(Selling& s, const liqo::Slice& slice, model::Node patch, model::Node mark) {
  model::put(model::ensure(patch, {"metadata", "annotations"}), k_fenced_annotation,
             std::move(mark));
  s.plan.deeds.emplace_back(Merge{s.at(liqo::k_slices, slice.meta.name), std::move(patch)});
}

// Cordoned, or its virtual kubelet would begin them again. Other guests run on: who takes them for
// dead has others in their place, and nothing but the bill tells.
void fence_off(Selling& s, const liqo::Slice& slice) {
  const std::string_view mark = slice.meta.annotation(k_fenced_annotation);
  const bool is_cordoned = slice.meta.annotation(liqo::k_cordon_annotation) == "true";
  if (!mark.empty() && is_cordoned) return;
  const std::string_view first = is_cordoned ? k_fenced_and_cordoned : "true";
  mark_fenced(s, slice, liqo::cordon_patch(true), model::text_node(mark.empty() ? first : mark));
}

// What was cordoned before stays so.
void let_in_again(Selling& s, const liqo::Slice& slice) {
  const bool stays = slice.meta.annotation(k_fenced_annotation) == k_fenced_and_cordoned;
  mark_fenced(s, slice, stays ? model::object_node() : liqo::cordon_patch(false), model::Node{});
}

// Of every unit that was sold, whether or not its slice is here: one that was deleted and is to be
// made anew has left its guests.
void stop_fenced(Selling& s) {
  if (is_unsettled(s.sight.fence)) return;  // then all of them go
  for (const Sale& sale : s.wish.sales) {
    if (!is_fenced(s, sale)) continue;
    for (const SoldUnit& unit : sale.units) {
      const auto found = s.sight.with_identity.find(liqo::unit_user(unit.name, s.wish.buyer_hash));
      if (found != s.sight.with_identity.end()) sweep(s, found->second);
    }
  }
}

// The buyer has begun elsewhere whatever had an identity here. When a look finds none of them any
// more that is written down, and it may have guests of that kind again.
void settle_guests(Selling& s) {
  if (!is_unsettled(s.sight.fence)) return;
  bool is_stopped = true;
  for (const auto& [user, guests] : s.sight.with_identity) {
    sweep(s, guests);
    is_stopped = is_stopped && guests.empty();
  }
  if (is_stopped) s.plan.deeds.emplace_back(settle_fence(s.wish.buyer, *s.sight.fence.lease));
}

void tell_of_fence(Selling& s) {
  const FenceSight& fence = s.sight.fence;
  if (!fence.lease || s.wish.sales.empty()) return;
  const Instant heard = last_heard(fence, s.wish.skew);
  const bool is_any = std::any_of(s.wish.sales.begin(), s.wish.sales.end(), [&](const Sale& sale) {
    return is_live(sale) && heard + sale.fence <= s.now;
  });
  if (!is_any) return;
  const bool is_renewing = fence.is_followed && fence.seen + seconds(60) > s.now;
  if (is_renewing && heard + seconds(60) < fence.seen) {
    return s.tell(s.thing(), "it renews its Lease with times that are long past",
                  "set the clocks of both clusters right; its guests with identity are stopped");
  }
  s.tell(s.thing(), "it has not renewed its Lease for the fence time of its contract",
         "its guests with identity are stopped until it does");
}

void grant(Selling& s, const liqo::Slice& slice, const liqo::Grant& grant) {
  if (is_granted(slice) && slice.grant == grant) return;
  // It begins and ends with nothing: any other amounts are nobody's of ours.
  const std::string wrong =
      is_zero(grant.amounts) ? "" : misgranted(grant.amounts, slice.grant.amounts);
  if (is_granted(slice) && !wrong.empty()) {
    s.tell("unit " + slice.meta.name, "somebody edited what it is granted: " + wrong,
           "it is put right; the contract says what was sold");
  }
  s.plan.deeds.emplace_back(
      Merge{s.at(liqo::k_slices, slice.meta.name), liqo::grant_patch(slice, grant, s.now), true});
}

// Empty: it is the unit that was sold.
Status check_slice(const Selling& s, const liqo::Slice& slice, const Wanted& it) {
  if (!slice.unreadable.empty()) {
    return fail(Code::denied, "unit " + slice.meta.name,
                "its slice cannot be read: " + slice.unreadable,
                "the buyer makes it as Liqo would, and changes nothing of it");
  }
  SPILLWAY_TRY(check_replica(slice, s.wish.buyer, s.wish.self));
  if (it.request != nullptr && slice.request == *it.request) return {};
  return fail(Code::denied, "unit " + slice.meta.name,
              "its slice has another request than the contract names",
              "the buyer makes it with the request that was signed for");
}

// Its provider's operator may want that for a while.
void tell_of_cordon(Selling& s, const liqo::Slice& slice) {
  const bool is_cordoned = slice.meta.annotation(liqo::k_cordon_annotation) == "true";
  if (!is_cordoned || !slice.meta.annotation(k_fenced_annotation).empty()) return;
  s.tell("unit " + slice.meta.name, "somebody cordoned it, and its buyer's new pods wait",
         fmt::format("take the annotation {} off its slice, or give notice",
                     liqo::k_cordon_annotation));
}

// One that was granted before somebody edited it keeps that, as a unit does; it is fenced and ended
// as one.
void serve(Selling& s, const liqo::Slice& slice, const Wanted& it) {
  const Status is_it = check_slice(s, slice, it);
  if (!is_it) {
    s.tell("unit " + slice.meta.name, is_it.error().reason, is_it.error().next);
    const bool is_decided = !status_of(slice.conditions, liqo::k_resources_condition).empty();
    if (!is_decided) {
      s.plan.deeds.emplace_back(Merge{s.at(liqo::k_slices, slice.meta.name),
                                      liqo::denial_patch(slice, is_it.error().reason, s.now),
                                      true});
    }
    if (!is_granted(slice)) return;
  }
  // Liqo writes its own condition first; whoever writes at the same time only meets a conflict.
  if (!slice.is_accepted(liqo::k_authentication_condition)) {
    if (status_of(slice.conditions, liqo::k_authentication_condition) == liqo::k_denied) {
      s.tell("unit " + slice.meta.name, "Liqo denies its certificate",
             "its buyer's key may be another than its Tenant has");
    }
    return;
  }
  const bool is_over = it.sale->is_closing && it.sale->zero_at <= s.now;
  if (is_fenced(s, *it.sale)) {
    fence_off(s, slice);
  } else if (s.sight.fence.lease && !slice.meta.annotation(k_fenced_annotation).empty()) {
    let_in_again(s, slice);
  } else if (it.sale->is_closing) {
    cordon(s, slice);
  } else {
    tell_of_cordon(s, slice);
  }
  if (it.sale->is_closing && !is_over) s.plan.look_by(it.sale->zero_at);
  const bool is_zero_now = is_over || it.unit->is_spare;
  if (!is_it && !is_zero_now) return;
  grant(s, slice, is_zero_now ? zeroed(it.sale->grant) : it.sale->grant);
}

const std::vector<Place>* guests_of(const Selling& s, const std::string& slice) {
  const auto found = s.sight.guests.find(liqo::unit_user(slice, s.wish.buyer_hash));
  return found == s.sight.guests.end() || found->second.empty() ? nullptr : &found->second;
}

bool is_recorded(const Selling& s, const std::string& slice) {
  return s.sight.record && s.sight.record->units.contains(slice);
}

// Nothing here waits for the buyer: no new guests, nothing granted, guests gone, the name struck
// from the record so that the slice cannot come back, and then the slice.
void end(Selling& s, const liqo::Slice& slice) {
  cordon(s, slice);
  if (is_granted(slice) && !is_zero(slice.grant.amounts)) {
    return grant(s, slice, zeroed(slice.grant));
  }
  const std::string& name = slice.meta.name;
  if (const auto* guests = guests_of(s, name)) return sweep(s, *guests);
  if (is_recorded(s, name)) {
    s.plan.deeds.emplace_back(change_record(s.space, {}, {name}));
    return;
  }
  if (slice.meta.deleted.empty()) s.remove(liqo::k_slices, name, slice.meta.uid);
}

bool is_over(const Selling& s, const std::string& name) {
  return !s.sight.slices.contains(name) && wanted(s.wish, name).unit == nullptr;
}

// Guests of units that are over, also of those that nothing else is left of.
void sweep_left(Selling& s) {
  std::set<std::string> users;
  for (const auto& [name, slice] : s.sight.slices) {
    users.insert(liqo::unit_user(name, s.wish.buyer_hash));
  }
  for (const Sale& sale : s.wish.sales) {
    for (const SoldUnit& unit : sale.units) {
      if (unit.is_live) users.insert(liqo::unit_user(unit.name, s.wish.buyer_hash));
    }
  }
  for (const auto& [user, guests] : s.sight.guests) {
    if (!users.contains(user)) sweep(s, guests);
  }
}

// What is left of units whose slice is gone: its guests run on, and its certificate would stand in
// the way of a later one.
void clear(Selling& s) {
  sweep_left(s);
  std::vector<std::string> gone;
  const liqo::Texts none;
  for (const auto& [name, request] : s.sight.record ? s.sight.record->units : none) {
    if (is_over(s, name) && guests_of(s, name) == nullptr) gone.push_back(name);
  }
  if (!gone.empty()) s.plan.deeds.emplace_back(change_record(s.space, {}, gone));
  for (const std::string& name : s.sight.certificates) {
    if (is_over(s, name)) s.remove(liqo::k_secrets, liqo::certificate_secret_name(name));
  }
}

// Liqo calls a map as the provider that it is copied to, and the guard lets sixteen namespaces into
// each: by another one the buyer has more. No time is given, for no Liqo has made it.
void remove_other_maps(Selling& s) {
  std::vector<std::string> others;
  for (const std::string& name : s.sight.maps) {
    if (name == s.wish.self) continue;
    others.push_back(name);
    s.remove(liqo::k_namespace_maps, name);
  }
  if (others.empty()) return;
  s.tell(s.thing(), "it has another namespace map: " + name_few(others),
         "it is removed with its namespaces; with the guard none comes: spillway fabric guard | "
         "kubectl apply -f -");
}

UnitStep step_of(const Selling& s, const SoldUnit& unit, const Wanted& it) {
  const auto slice = s.sight.slices.find(unit.name);
  if (slice != s.sight.slices.end()) {
    if (!is_granted(slice->second)) return UnitStep::carried;
    return unit.is_spare ? UnitStep::spare : UnitStep::granted;
  }
  const bool is_heard = it.request != nullptr && has_recorded(s.sight, unit.name, *it.request);
  return is_heard ? UnitStep::recorded : UnitStep::asked;
}

void part(Selling& s) {
  if (!s.sight.slices.empty()) return;
  // Without its tenant the buyer could not take down its part of the namespaces any more; and its
  // Liqo would wait for ever to take back the Renew, and open no other peering before.
  const bool has_copies = !s.sight.maps.empty() || !s.sight.renews.empty();
  const Instant until = s.wish.warm_until + (has_copies ? k_patience : Duration{});
  if (until > s.now) return s.plan.look_by(until);
  if (s.sight.tenant)
    s.remove(liqo::k_tenants, s.sight.tenant->meta.name, s.sight.tenant->meta.uid);
  remove_certificate(s);
  if (s.sight.nonce) s.remove(liqo::k_secrets, s.sight.nonce->meta.name, s.sight.nonce->meta.uid);
  remove_fence(s.wish.buyer, s.sight.fence, s.plan);
  // They had their time; without its tenant the buyer cannot take them down any more, and Liqo
  // would keep its namespaces for ever.
  if (s.sight.maps.contains(s.wish.self)) s.remove(liqo::k_namespace_maps, s.wish.self);
  for (const std::string& renew : s.sight.renews) s.remove(liqo::k_renews, renew);
  const bool is_empty = s.sight.record && s.sight.record->units.empty();
  const bool is_needless = is_empty || s.sight.is_record_unreadable;
  if (is_needless && !s.sight.tenant && !has_copies) s.remove(liqo::k_config_maps, k_record_name);
}

// Nothing of what is there is touched.
Plan plan_beside(Selling s, bool has_live) {
  if (has_live) {
    s.tell(s.thing(),
           "somebody has peered with that Liqo id by hand (Tenant " + s.sight.tenant->meta.name +
               "), and it may be another cluster's",
           "take that peering down (liqoctl unpeer), or end the contract");
  }
  for (const Sale& sale : s.wish.sales) {
    for (const SoldUnit& unit : sale.units) {
      if (unit.is_live) s.plan.units.push_back({unit.name, UnitStep::asked});
    }
  }
  return std::move(s.plan);
}

}  // namespace

bool is_others_peering(const SellerSight& sight) {
  return sight.tenant && sight.tenant->meta.label(k_owner_label) != k_owner_fabric &&
         !sight.record && !sight.is_record_unreadable;
}

bool is_clear(const SellerSight& sight) {
  if (is_others_peering(sight)) return true;
  return !sight.nonce && !sight.tenant && !sight.record && !sight.is_record_unreadable &&
         sight.slices.empty() && sight.guests.empty() && sight.certificates.empty() &&
         !sight.has_certificate && sight.maps.empty() && sight.renews.empty() &&
         !sight.fence.has_any() && !sight.account.has_any();
}

Plan plan_seller(const SellerWish& wish, const SellerSight& sight, Instant now) {
  Selling s{wish, sight, now};
  const bool has_live = std::any_of(wish.sales.begin(), wish.sales.end(), is_live);
  if (is_others_peering(sight)) return plan_beside(std::move(s), has_live);
  settle_account(s);
  if (has_live) welcome(s);
  for (const auto& [name, slice] : sight.slices) {
    const Wanted it = wanted(wish, name);
    if (it.unit != nullptr) {
      serve(s, slice, it);
    } else {
      end(s, slice);
      s.plan.units.push_back({name, UnitStep::ending});
    }
  }
  for (const Sale& sale : wish.sales) {
    for (const SoldUnit& unit : sale.units) {
      if (unit.is_live)
        s.plan.units.push_back({unit.name, step_of(s, unit, wanted(wish, unit.name))});
    }
  }
  clear(s);
  remove_other_maps(s);
  stop_fenced(s);
  settle_guests(s);
  tell_of_fence(s);
  if (!has_live) part(s);
  return std::move(s.plan);
}

}  // namespace spillway::fabric
