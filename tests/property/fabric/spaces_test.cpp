// Whatever the policy, and whatever is there: what is offloaded is what may be, by our name or by
// somebody else's will; what others made is theirs; and a second look finds nothing to do.
#include "fabric/spaces.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fabric/liqo/guard.h"
#include "support/settled_spaces.h"

namespace spillway::fabric {
namespace {

const std::vector<std::string>& all_names() {
  static const std::vector<std::string> k_names = [] {
    std::vector<std::string> names{"shop",     "desk", "kube-system", "liqo",
                                   "spillway", "own",  "sw5-x-guest", std::string(60, 'l')};
    for (int i = 0; i < 18; ++i) names.push_back("more-" + std::to_string(i));
    return names;
  }();
  return k_names;
}

SpacesWish any_wish() {
  SpacesWish wish{*rc::gen::element<std::string>("rome", "r"), {}, "own"};
  wish.policy.namespaces =
      *rc::gen::unique<std::vector<std::string>>(rc::gen::elementOf(all_names()));
  if (*rc::gen::inRange(0, 3) == 0) {
    wish.policy.labels = {{"spill", model::Operator::exists, {}}};
  }
  if (*rc::gen::arbitrary<bool>()) wish.policy.pods = PodPlaces::remote;
  return wish;
}

liqo::NamespaceOffloading any_offloading(const SpacesWish& before, const std::string& space) {
  liqo::NamespaceOffloading made =
      liqo::new_offloading(space, *rc::gen::element<std::string>("sw4-rome-" + space, "mine"));
  if (*rc::gen::arbitrary<bool>()) return made;
  return offloading_of(before, space).value_or(made);
}

SpacesSight any_sight() {
  SpacesSight sight;
  const SpacesWish before = any_wish();
  for (const std::string& name : all_names()) {
    if (*rc::gen::inRange(0, 8) == 0) continue;
    SpaceSight& seen = sight.spaces[name];
    if (*rc::gen::arbitrary<bool>()) seen.labels["spill"] = "yes";
    if (name.starts_with("sw5-")) seen.labels[std::string(liqo::k_peer_label)] = "x";
    seen.is_ending = *rc::gen::inRange(0, 8) == 0;
    if (*rc::gen::inRange(0, 3) == 0) seen.offloading = any_offloading(before, name);
    if (*rc::gen::arbitrary<bool>()) sight.waiting.push_back({name, "web", "u", "1"});
  }
  return sight;
}

bool is_made_by_us(const SpaceSight& seen) {
  return seen.offloading && seen.offloading->meta.label(k_owner_label) == k_owner_fabric;
}

RC_GTEST_PROP(SpacesProperty, WhatIsOffloadedIsWhatMayBe, ()) {
  const SpacesWish wish = any_wish();
  const SpacesSight before = any_sight();
  SpacesSight sight = before;
  // One look removes what has another name, the next makes it anew, the third lets pods leave.
  for (int round = 0; round < 3; ++round) test::settle(plan_spaces(wish, sight), sight);
  RC_ASSERT(plan_spaces(wish, sight).deeds.empty());
  size_t made = 0;
  for (const auto& [name, seen] : sight.spaces) {
    const SpaceSight& was = before.spaces.at(name);
    if (was.offloading && !is_made_by_us(was)) RC_ASSERT(seen.offloading == was.offloading);
    if (!is_made_by_us(seen)) continue;
    made += 1;
    RC_ASSERT(may_leave(wish, name, seen.labels));
    RC_ASSERT(!why_never(name));
    RC_ASSERT(name != "own" && !seen.labels.contains(liqo::k_peer_label));
    const auto wanted = offloading_of(wish, name);
    RC_ASSERT(wanted.has_value());
    RC_ASSERT(seen.offloading->remote_name == wanted->remote_name);
    RC_ASSERT(seen.offloading->placement == wanted->placement);
    RC_ASSERT(seen.offloading->selector == wanted->selector);
  }
  RC_ASSERT(made <= liqo::k_most_guest_spaces);
  for (const WaitingPod& pod : sight.waiting) {
    const SpaceSight& seen = sight.spaces.at(pod.space);
    const bool may = may_leave(wish, pod.space, seen.labels) && seen.offloading && !seen.is_ending;
    RC_ASSERT(tolerates_virtual_nodes(pod.tolerations) == may);
  }
}

}  // namespace
}  // namespace spillway::fabric
