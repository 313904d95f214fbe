// The end of a unit at the buyer: it is drained first; of a dead provider, by force.
#include "fabric/buying.h"
#include "fabric/mourning.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

void cordon(Buying& b, const std::string& name) {
  model::Node patch = model::object_node();
  model::put(model::ensure(patch, {"spec"}), "unschedulable", model::boolean_node(true));
  b.plan.deeds.emplace_back(Merge{Buying::node(name), std::move(patch)});
}

// Liqo evicts as well, and asks a disruption budget that refuses for as long as it does: the unit
// would stay, and be paid for. Whoever is here has had notice, and has its own time to end, at
// whose end the virtual kubelet has stopped the guest (law 6).
// A virtual kubelet that its provider lets into nothing any more never says that one has ended:
// what may run twice goes by force then.
void put_out(Buying& b, const BoughtSight& seen) {
  for (const PodSight& pod : seen.pods) {
    if (pod.name.empty()) continue;
    const Instant late = pod.gone_by + k_patience;
    const bool is_late = pod.is_leaving && !pod.has_identity && late <= b.now;
    if (!pod.is_leaving || is_late) {
      b.plan.deeds.emplace_back(Remove{{liqo::k_pods, pod.space, pod.name}, pod.uid, is_late});
    } else if (!pod.has_identity) {
      b.plan.look_by(late);
    }
  }
}

// True: something runs there that still has time to go, or may come yet.
bool drain(Buying& b, const std::string& name, const BoughtSight& seen, Instant drained_by) {
  if (!seen.node) return false;
  if (!seen.node->is_cordoned) cordon(b, name);
  if (drained_by <= b.now) {
    if (seen.node->is_cordoned) put_out(b, seen);  // or it may come back here
    return false;
  }
  if (seen.pods.empty()) return !seen.node->is_cordoned;
  for (const PodSight& pod : seen.pods) {
    if (!pod.is_leaving && !pod.name.empty()) b.plan.deeds.emplace_back(Evict{pod.space, pod.name});
  }
  b.plan.look_by(drained_by);
  return true;
}

// With nothing on it, and nothing to come, all goes at once. A slice that is being deleted makes no
// VirtualNode, and Liqo needs none of the two to be there for the other's end.
void end_empty(Buying& b, const std::string& name, const BoughtSight& seen) {
  if (seen.slice->meta.deleted.empty()) b.remove(b.at(liqo::k_slices, name), seen.slice->meta.uid);
  const liqo::Meta& meta = seen.virtual_node->meta;
  if (meta.deleted.empty()) b.remove(b.at(liqo::k_virtual_nodes, name), meta.uid);
}

// True: something runs there that still has time to go; or that may run at the provider, who cannot
// be asked.
bool empty_out(Buying& b, const std::string& name, const BoughtSight& seen, Instant drained_by,
               Duration fence) {
  if (!b.is_dead()) {
    return is_astray(seen) ? clear_astray(b, name, seen) : drain(b, name, seen, drained_by);
  }
  if (mourn(b.wish.life, name, fence, seen, b.now, b.plan)) return true;
  return force_out(seen, b.plan);
}

// Slice and VirtualNode. True: there is one still, and the Node waits for it.
bool take_down(Buying& b, const std::string& name, const BoughtSight& seen, const Ending& how) {
  // Of what has no time left nobody knows what runs there; of the dead, each thing goes by force.
  const bool is_drained = how.drained_by > b.now && !b.is_dead();
  if (is_drained && seen.slice && seen.virtual_node) {
    end_empty(b, name, seen);
    return true;
  }
  // Else Liqo would make the VirtualNode again.
  const bool is_slice_there = seen.slice && seen.slice->meta.deleted.empty();
  if (is_slice_there && keep_liqo_from_making(b, *seen.slice)) return true;
  if (seen.virtual_node) {
    const liqo::Meta& meta = seen.virtual_node->meta;
    if (meta.deleted.empty()) {
      b.remove(b.at(liqo::k_virtual_nodes, name), meta.uid);
    } else if (b.is_dead()) {
      let_go(b, liqo::k_virtual_nodes, meta);
    }
    return true;
  }
  if (!seen.slice) return false;
  const liqo::Meta& meta = seen.slice->meta;
  const std::string version = how.comes_back ? meta.version : "";
  if (meta.deleted.empty()) {
    b.plan.deeds.emplace_back(Remove{b.at(liqo::k_slices, name), meta.uid, false, version});
  } else {
    let_go(b, liqo::k_slices, meta, version);
  }
  return true;
}

}  // namespace

bool clear_astray(Buying& b, const std::string& name, const BoughtSight& seen) {
  if (!seen.node) return false;
  if (!seen.node->is_cordoned) {
    cordon(b, name);
    return true;
  }
  for (const PodSight& pod : seen.pods) {
    if (pod.name.empty()) continue;
    if (pod.has_identity) {
      tell_of_lost_guest(b, pod, "the virtual kubelet of " + name + " no longer reaches it");
      continue;
    }
    b.plan.deeds.emplace_back(Remove{{liqo::k_pods, pod.space, pod.name}, pod.uid, true});
  }
  return !seen.pods.empty();
}

bool has_lost_guests(Buying& b, const std::string& name, const BoughtSight& seen) {
  if (!seen.node || seen.virtual_node || b.is_dead()) return false;
  bool has_any = !is_known(seen);
  for (const PodSight& pod : seen.pods) {
    if (!pod.has_identity) continue;
    has_any = true;
    if (!seen.node->is_silent) continue;  // it may still say that it has ended
    tell_of_lost_guest(b, pod, "somebody removed the VirtualNode of " + name + " by force");
  }
  return has_any;
}

UnitStep end(Buying& b, const std::string& name, const BoughtSight& seen, const Ending& how) {
  const bool is_bereft = has_lost_guests(b, name, seen);
  if (empty_out(b, name, seen, how.drained_by, how.fence)) return UnitStep::draining;
  // The slice waits for no lost guest: with it the provider ends what runs there.
  if (take_down(b, name, seen, how)) return is_bereft ? UnitStep::draining : UnitStep::ending;
  if (is_bereft) return UnitStep::draining;
  if (seen.node) b.remove(Buying::node(name), seen.node->uid);
  if (seen.has_lease) b.remove(b.at(liqo::k_leases, name));
  return UnitStep::gone;
}

}  // namespace spillway::fabric
