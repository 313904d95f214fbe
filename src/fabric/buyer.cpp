#include "fabric/buyer.h"

#include <algorithm>

#include "fabric/buying.h"
#include "fabric/mourning.h"

namespace spillway::fabric {
namespace {

constexpr Duration k_doubt_told = minutes(1);

// Its nodes wait until the fence time is over, and then are nobody's: what was bought is made anew
// when the provider is back.
UnitStep keep_watch(Buying& b, const Purchase& purchase, const BoughtUnit& unit,
                    const BoughtSight& seen) {
  const Instant over = fence_over(b.wish.life, unit.fence);
  if (over <= b.now && b.wish.life.is_given_up)
    return end(b, unit.name, seen, {b.now, unit.fence, true});
  if (over > b.now) b.plan.look_by(over);
  mourn(b.wish.life, unit.name, unit.fence, seen, b.now, b.plan);
  const UnitStep step = step_of(purchase, unit, seen);
  return step == UnitStep::ready ? UnitStep::made : step;
}

void tell_of_death(Buying& b) {
  const std::string thing = "provider " + b.wish.provider;
  if (b.is_dead()) {
    b.plan.troubles.push_back({thing, "it is dead: neither our probe nor Liqo's is answered",
                               b.wish.life.is_given_up
                                   ? "its units are gone; they come back with it"
                                   : "work without identity begins elsewhere; the rest waits for "
                                     "the fence time of the contract"});
  }
  if (b.wish.life.life == Life::doubted) {
    const Instant told = b.wish.life.unheard + k_doubt_told;
    if (told > b.now) {
      b.plan.look_by(told);
    } else {
      b.plan.troubles.push_back({thing,
                                 "it does not answer our probe, and Liqo says that it is there",
                                 "look at the way from here to its API server; work with identity "
                                 "is stopped there after the fence time of the contract"});
    }
  }
  const bool is_back = b.wish.life.life == Life::alive;
  if (is_back && is_marked_unreachable(b.sight)) mark_unreachable(b, false);
}

// Nothing of what is there is touched, and nothing is made that would go where it leads.
Plan plan_beside(Buying b, bool has_live) {
  if (has_live) {
    b.plan.troubles.push_back(
        {"Identity " + b.sight.identity->meta.name,
         "somebody has peered with that Liqo id by hand, and it may be another cluster's",
         "take that peering down (liqoctl unpeer), or release what was bought"});
  }
  static const BoughtSight k_nothing;
  for (const Purchase& purchase : b.wish.purchases) {
    for (const BoughtUnit& unit : purchase.units) {
      const UnitStep step = unit.drained_by ? UnitStep::gone : step_of(purchase, unit, k_nothing);
      b.plan.units.push_back({unit.name, step});
    }
  }
  return std::move(b.plan);
}

}  // namespace

bool is_live(const Purchase& purchase) {
  return purchase.is_kept || std::any_of(purchase.units.begin(), purchase.units.end(),
                                         [](const BoughtUnit& unit) { return !unit.drained_by; });
}

bool is_recorded(const Purchase& purchase, const std::string& unit) {
  if (!purchase.recorded) return false;
  const auto& units = *purchase.recorded;
  return std::find(units.begin(), units.end(), unit) != units.end();
}

bool is_others_peering(const BuyerSight& sight) {
  return sight.identity && sight.identity->meta.label(k_owner_label) != k_owner_fabric &&
         sight.units.empty();
}

bool is_clear(const BuyerSight& sight) {
  if (is_others_peering(sight)) return true;
  return !sight.identity && !sight.map && !sight.renew && !sight.access && sight.units.empty() &&
         !is_foreign_left(sight);
}

Plan plan_buyer(const BuyerWish& wish, const BuyerSight& sight, Instant now) {
  Buying b{wish, sight, now};
  if (!wish.purchases.empty() && !sight.has_space) {
    b.create({liqo::k_namespaces, {}, b.space}, liqo::tenant_namespace(wish.provider));
    return std::move(b.plan);
  }
  const bool has_live = std::any_of(wish.purchases.begin(), wish.purchases.end(), is_live);
  if (is_others_peering(sight)) return plan_beside(std::move(b), has_live);
  if (has_live) settle_identity(b);
  static const BoughtSight k_nothing;
  std::map<std::string, bool> named;
  for (const Purchase& purchase : wish.purchases) {
    ask(b, purchase);
    for (const BoughtUnit& unit : purchase.units) {
      const auto found = sight.units.find(unit.name);
      const BoughtSight& seen = found == sight.units.end() ? k_nothing : found->second;
      named[unit.name] = true;
      if (unit.drained_by) {
        const UnitStep step = end(b, unit.name, seen, {*unit.drained_by, unit.fence});
        b.plan.units.push_back({unit.name, step});
      } else if (b.is_dead()) {
        b.plan.units.push_back({unit.name, keep_watch(b, purchase, unit, seen)});
      } else {
        keep(b, purchase, unit, seen);
        if (wish.life.life == Life::alive && is_served(seen)) lift(unit.name, seen, now, b.plan);
        b.plan.units.push_back({unit.name, step_of(purchase, unit, seen)});
      }
    }
  }
  // Nobody pays for these any more.
  for (const auto& [name, seen] : sight.units) {
    if (named.contains(name)) continue;
    b.plan.units.push_back({name, end(b, name, seen, {now, wish.life.fence})});
  }
  tell_of_death(b);
  if (!has_live) part(b);
  return std::move(b.plan);
}

}  // namespace spillway::fabric
