#include "fabric/buyer.h"

#include <algorithm>

#include "fabric/liqo/vk_options.h"
#include "fabric/mending.h"
#include "fabric/mourning.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

// Some at a time: a message has its bounds, and a request some hundred bytes.
constexpr size_t k_most_requests = 32;
constexpr Duration k_ask_again = seconds(30);

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

bool is_live(const Purchase& purchase) {
  return purchase.is_kept || std::any_of(purchase.units.begin(), purchase.units.end(),
                                         [](const BoughtUnit& unit) { return !unit.drained_by; });
}

bool is_recorded(const Purchase& purchase, const std::string& unit) {
  if (!purchase.recorded) return false;
  const auto& units = *purchase.recorded;
  return std::find(units.begin(), units.end(), unit) != units.end();
}

// ---- what waits for the provider's copy -----------------------------------------------------

// A slice goes when the provider's copy is gone. If there is nobody to say so, it goes all the
// same; at once if nobody can.
void let_go(Buying& b, const liqo::Kind& kind, const liqo::Meta& meta,
            const std::string& version = {}) {
  const auto since = parse_instant(meta.deleted);
  if (!since) return;
  const bool waits_for_dead =
      b.is_dead() && meta.finalizers.size() == 1 && meta.finalizers[0] == liqo::k_copy_finalizer;
  const Instant until = *since + (waits_for_dead ? Duration{} : k_patience);
  if (until > b.now) return b.plan.look_by(until);
  model::Node patch = model::object_node();
  model::put(model::ensure(patch, {"metadata"}), "finalizers", model::Node{});
  if (!version.empty()) {
    model::put(model::ensure(patch, {"metadata"}), "resourceVersion", model::text_node(version));
  }
  b.plan.deeds.emplace_back(Merge{b.at(kind, meta.name), std::move(patch)});
}

// False: something of an identity that is gone is still there, and ends. Liqo does so by itself
// where it may still ask the provider, and makes nothing of another identity before.
bool clear_remnants(Buying& b) {
  const std::pair<const liqo::Kind&, const std::optional<liqo::Meta>&> all[] = {
      {liqo::k_namespace_maps, b.sight.map},
      {liqo::k_renews, b.sight.renew},
      {liqo::k_secrets, b.sight.access}};
  for (const auto& [kind, left] : all) {
    if (!left || left->deleted.empty()) continue;
    let_go(b, kind, *left);
    return false;
  }
  return true;
}

// ---- the handshake -------------------------------------------------------------------------

// What the provider does not have yet. It says itself when it needs to know our control plane.
void ask(Buying& b, const Purchase& purchase) {
  const bool is_known = b.sight.identity || purchase.recorded;
  if (!is_known && !purchase.proof) return;
  RequestTalk talk{purchase.proof, {}};
  for (const BoughtUnit& unit : purchase.units) {
    const auto seen = b.sight.units.find(unit.name);
    const bool has_slice = seen != b.sight.units.end() && seen->second.slice;
    if (unit.drained_by || has_slice || is_recorded(purchase, unit.name)) continue;
    if (talk.units.size() < k_most_requests) talk.units[unit.name] = unit.request;
  }
  if (talk.units.empty() && !talk.proof) return;
  b.plan.deeds.emplace_back(Say{purchase.contract, std::string(k_request_step), to_body(talk)});
}

// Ours is of another key than Liqo has now, and the provider has signed one for that.
bool is_certificate_stale(const Buying& b, const liqo::Identity& known, const IdentityTalk& heard) {
  if (known.access.certificate == heard.access.certificate) return false;
  return std::any_of(b.sight.units.begin(), b.sight.units.end(), [](const auto& unit) {
    const auto& slice = unit.second.slice;
    return slice &&
           status_of(slice->conditions, liqo::k_authentication_condition) == liqo::k_denied;
  });
}

void settle_identity(Buying& b) {
  const auto& heard = b.wish.identity;
  if (!heard) return;
  if (!b.sight.identity) {
    if (!clear_remnants(b)) return;
    const liqo::Identity made = liqo::new_identity(b.wish.provider, heard->access, heard->space);
    return b.create(b.at(liqo::k_identities, made.meta.name), to_object(made));
  }
  const liqo::Identity& known = *b.sight.identity;
  const bool is_same = known.access.authority == heard->access.authority &&
                       known.access.api_server == heard->access.api_server &&
                       known.access.proxy == heard->access.proxy && known.space == heard->space &&
                       !is_certificate_stale(b, known, *heard);
  // Liqo makes nothing of a change: it goes, and the next look makes another.
  if (!is_same && known.meta.deleted.empty()) {
    b.remove(b.at(liqo::k_identities, known.meta.name), known.meta.uid);
  }
}

// ---- a unit --------------------------------------------------------------------------------

liqo::Slice slice_of(const Buying& b, const Purchase& purchase, const BoughtUnit& unit) {
  liqo::Slice slice = liqo::new_slice(
      {unit.name, b.wish.self, b.wish.provider, unit.request, purchase.amounts}, false);
  slice.meta.labels.emplace(k_contract_label, purchase.contract.text);
  return slice;
}

liqo::VirtualNode virtual_node_of(const Buying& b, const Purchase& purchase,
                                  const BoughtUnit& unit) {
  return liqo::new_virtual_node({unit.name, b.wish.provider, b.wish.template_name, purchase.labels,
                                 purchase.annotations, purchase.taints});
}

// Of its provider, who says in the status what it likes.
void check_grant(Buying& b, const Purchase& purchase, const BoughtUnit& unit,
                 const liqo::Slice& slice) {
  const std::string thing = "unit " + unit.name;
  if (status_of(slice.conditions, liqo::k_authentication_condition) == liqo::k_denied) {
    b.plan.troubles.push_back(
        {thing, "its provider's Liqo denies its certificate",
         "Liqo's key here may be another than the peering was made with: it is made anew when "
         "nothing runs there under the old one; release what does"});
  }
  if (status_of(slice.conditions, liqo::k_resources_condition) == liqo::k_denied) {
    b.plan.troubles.push_back({thing, "its provider denies what was bought",
                               "release it; the contract says what is owed"});
  }
  if (unit.is_spare) return;
  const std::string wrong = misgranted(purchase.amounts, slice.grant.amounts);
  if (wrong.empty()) return;
  b.plan.troubles.push_back({thing, "its provider grants something else than was bought: " + wrong,
                             "release it, or settle it with the provider by the signed contract"});
}

// Under another key than its provider knew, until that one's units had ended. It may be accepted by
// now; but Liqo, once it was forbidden to copy a slice, tries no more before the slice changes.
void ask_again(Buying& b, const liqo::Slice& slice) {
  if (status_of(slice.conditions, liqo::k_authentication_condition) != liqo::k_denied) return;
  const auto last = parse_instant(slice.meta.annotation(k_asked_again_annotation));
  if (last && *last + k_ask_again > b.now) return b.plan.look_by(*last + k_ask_again);
  model::Node patch = model::object_node();
  model::put(model::ensure(patch, {"metadata", "annotations"}), k_asked_again_annotation,
             model::text_node(to_text(b.now)));
  b.plan.deeds.emplace_back(Merge{b.at(liqo::k_slices, slice.meta.name), std::move(patch)});
}

void name_node(Buying& b, const BoughtUnit& unit) {
  model::Node patch = model::object_node();
  model::put(model::ensure(patch, {"spec"}), "providerID", model::text_node(unit.provider_id));
  b.plan.deeds.emplace_back(Merge{Buying::node(unit.name), std::move(patch)});
}

bool has_liqo_make_node(const liqo::Slice& slice) {
  return slice.meta.annotation(liqo::k_create_virtual_node_annotation) == "true";
}

// True: it still may.
bool keep_liqo_from_making(Buying& b, const liqo::Slice& slice) {
  if (!has_liqo_make_node(slice)) return false;
  b.plan.deeds.emplace_back(
      Merge{b.at(liqo::k_slices, slice.meta.name), liqo::keep_without_node_patch()});
  return true;
}

// Ours was deleted by somebody's hand, and Liqo has made another, by its own options: through that
// every Secret of an offloaded namespace leaves.
bool is_liqos_own(const Buying& b, const liqo::VirtualNode& seen) {
  return !b.wish.template_name.empty() && !liqo::leaving_of_template(seen.template_name);
}

void replace(Buying& b, const liqo::Slice& slice, const liqo::VirtualNode& seen) {
  b.plan.troubles.push_back({"VirtualNode " + seen.meta.name,
                             "somebody removed it, and Liqo made one that copies every Secret",
                             "it is made again; to end a unit, release it"});
  if (keep_liqo_from_making(b, slice)) return;
  b.remove(b.at(liqo::k_virtual_nodes, seen.meta.name), seen.meta.uid);
}

// Liqo makes no VirtualNode where its Node is, and takes one away with the other: somebody has
// removed ours by force. No virtual kubelet will tell of what ran there; what has identity may run
// at the provider still, and is not begun elsewhere by us.
void clear_abandoned(Buying& b, const BoughtUnit& unit, const BoughtSight& seen) {
  if (!is_known(seen)) return;
  for (const PodSight& pod : seen.pods) {
    if (!pod.has_identity) continue;
    b.plan.troubles.push_back(
        {"pod " + pod.space + "/" + pod.name,
         "somebody removed the VirtualNode of " + unit.name +
             " by force, and nothing tells whether "
             "its guest still runs",
         "release the unit; or delete the pod by force when you know that its guest has ended"});
    return;
  }
  b.remove(Buying::node(unit.name), seen.node->uid);
}

void keep(Buying& b, const Purchase& purchase, const BoughtUnit& unit, const BoughtSight& seen) {
  if (!seen.slice) {
    if (!is_recorded(purchase, unit.name)) return;
    return b.create(b.at(liqo::k_slices, unit.name), to_object(slice_of(b, purchase, unit)));
  }
  if (!seen.slice->meta.deleted.empty()) return;  // by somebody's hand; the next look makes it anew
  check_grant(b, purchase, unit, *seen.slice);
  ask_again(b, *seen.slice);
  // Without its request and its offer it is not known what was written.
  const bool is_whole = !unit.request.empty();
  if (is_whole) mend_slice(slice_of(b, purchase, unit), *seen.slice, b.plan);
  const liqo::VirtualNode virtual_node = virtual_node_of(b, purchase, unit);
  // Its virtual kubelet reads the kubeconfig when it starts.
  if (!seen.virtual_node) {
    if (!seen.has_access) return;
    if (seen.node) return clear_abandoned(b, unit, seen);
    return b.create(b.at(liqo::k_virtual_nodes, unit.name), to_object(virtual_node));
  }
  if (!seen.virtual_node->meta.deleted.empty()) {  // by somebody's hand
    keep_liqo_from_making(b, *seen.slice);
    return;
  }
  if (is_liqos_own(b, *seen.virtual_node)) return replace(b, *seen.slice, *seen.virtual_node);
  if (is_whole) mend_virtual_node(virtual_node, *seen.virtual_node, b.plan);
  // Not before: Liqo would make one without labels and taints. Not never: it fills in what is
  // granted only where it may make the VirtualNode itself.
  if (!has_liqo_make_node(*seen.slice)) {
    b.plan.deeds.emplace_back(Merge{b.at(liqo::k_slices, unit.name), liqo::keep_with_node_patch()});
  }
  if (!seen.node) {
    return b.create(
        Buying::node(unit.name),
        liqo::node_to_adopt({unit.name, b.wish.provider, unit.provider_id, purchase.taints}));
  }
  if (seen.node->provider_id.empty()) name_node(b, unit);
}

// A virtual kubelet is there for it, and stays. What a death left half taken down is made anew
// before anything may come to it.
bool is_served(const BoughtSight& seen) {
  return seen.virtual_node && seen.virtual_node->meta.deleted.empty();
}

UnitStep step_of(const Purchase& purchase, const BoughtUnit& unit, const BoughtSight& seen) {
  if (seen.node && seen.node->is_ready) return UnitStep::ready;
  if (seen.node) return unit.is_spare ? UnitStep::spare : UnitStep::made;
  if (!seen.slice) {
    return is_recorded(purchase, unit.name) ? UnitStep::recorded : UnitStep::asked;
  }
  return seen.slice->is_accepted(liqo::k_resources_condition) ? UnitStep::granted
                                                              : UnitStep::carried;
}

// ---- the end of a unit ---------------------------------------------------------------------

void cordon(Buying& b, const std::string& name) {
  model::Node patch = model::object_node();
  model::put(model::ensure(patch, {"spec"}), "unschedulable", model::boolean_node(true));
  b.plan.deeds.emplace_back(Merge{Buying::node(name), std::move(patch)});
}

// True: something runs there that still has time to go, or may come yet.
bool drain(Buying& b, const std::string& name, const BoughtSight& seen, Instant drained_by) {
  if (!seen.node) return false;
  if (!seen.node->is_cordoned) cordon(b, name);
  if (drained_by <= b.now) return false;
  if (seen.pods.empty()) return !seen.node->is_cordoned;
  for (const PodSight& pod : seen.pods) {
    if (!pod.is_leaving) b.plan.deeds.emplace_back(Evict{pod.space, pod.name});
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
  if (!b.is_dead()) return drain(b, name, seen, drained_by);
  if (mourn(b.wish.life, name, fence, seen, b.now, b.plan)) return true;
  return force_out(seen, b.plan);
}

// How a unit ends.
struct Ending {
  Instant drained_by;
  Duration fence;
  // It comes back with its provider, unless its slice says that it is to end: so that goes as it
  // was seen, and no other. Whoever has just written it has said so to nobody else.
  bool comes_back = false;
};

UnitStep end(Buying& b, const std::string& name, const BoughtSight& seen, const Ending& how) {
  if (empty_out(b, name, seen, how.drained_by, how.fence)) return UnitStep::draining;
  // Of what has no time left nobody knows what runs there; of the dead, each thing goes by force.
  const bool is_drained = how.drained_by > b.now && !b.is_dead();
  if (is_drained && seen.slice && seen.virtual_node) {
    end_empty(b, name, seen);
    return UnitStep::ending;
  }
  // Else Liqo would make the VirtualNode again.
  const bool is_slice_there = seen.slice && seen.slice->meta.deleted.empty();
  if (is_slice_there && keep_liqo_from_making(b, *seen.slice)) return UnitStep::ending;
  if (seen.virtual_node) {
    const liqo::Meta& meta = seen.virtual_node->meta;
    if (meta.deleted.empty()) {
      b.remove(b.at(liqo::k_virtual_nodes, name), meta.uid);
    } else if (b.is_dead()) {
      let_go(b, liqo::k_virtual_nodes, meta);
    }
    return UnitStep::ending;
  }
  if (seen.slice) {
    const liqo::Meta& meta = seen.slice->meta;
    const std::string version = how.comes_back ? meta.version : "";
    if (meta.deleted.empty()) {
      b.plan.deeds.emplace_back(Remove{b.at(liqo::k_slices, name), meta.uid, false, version});
    } else {
      let_go(b, liqo::k_slices, meta, version);
    }
    return UnitStep::ending;
  }
  if (seen.node) b.remove(Buying::node(name), seen.node->uid);
  if (seen.has_lease) b.remove(b.at(liqo::k_leases, name));
  return UnitStep::gone;
}

// ---- the end of the peering ----------------------------------------------------------------

// Where the peer buys from us it is Liqo's, and stays.
bool is_foreign_left(const BuyerSight& sight) {
  return sight.foreign && sight.foreign->role != liqo::PeerRole::consumer &&
         sight.foreign->role != liqo::PeerRole::both;
}

bool is_marked_unreachable(const BuyerSight& sight) {
  return sight.foreign && sight.foreign->meta.annotation(liqo::k_unreachable_annotation) == "true";
}

void mark_unreachable(Buying& b, bool is_unreachable) {
  b.plan.deeds.emplace_back(Merge{{liqo::k_foreign_clusters, {}, b.wish.provider},
                                  liqo::unreachable_patch(is_unreachable)});
}

// With a dead provider at once, and by force: its copy of our NamespaceMap cannot be taken down, so
// Liqo must be told that nobody can. Not before all units are gone: it would end their pods, too.
void part(Buying& b) {
  const bool has_units = std::any_of(b.sight.units.begin(), b.sight.units.end(), [](const auto& u) {
    return u.second.slice || u.second.virtual_node || u.second.node;
  });
  if (has_units) return;
  if (b.wish.warm_until > b.now) b.plan.look_by(b.wish.warm_until);
  if (!b.sight.identity) {
    if (!clear_remnants(b)) return;
    if (!is_foreign_left(b.sight) || !b.sight.foreign->meta.deleted.empty()) return;
    return b.remove({liqo::k_foreign_clusters, {}, b.wish.provider}, b.sight.foreign->meta.uid);
  }
  const bool has_copies = b.sight.map || b.sight.renew;
  if (b.is_dead() && has_copies && b.sight.foreign) {
    if (!is_marked_unreachable(b.sight)) return mark_unreachable(b, true);
    if (b.sight.map) return;
  }
  const Instant until = b.wish.warm_until + (b.sight.map ? k_patience : Duration{});
  if (!b.is_dead() && until > b.now) return b.plan.look_by(until);
  const liqo::Meta& meta = b.sight.identity->meta;
  if (meta.deleted.empty()) b.remove(b.at(liqo::k_identities, meta.name), meta.uid);
}

// ---- a dead provider -----------------------------------------------------------------------

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
  const bool is_back = b.wish.life.life == Life::alive;
  if (is_back && is_marked_unreachable(b.sight)) mark_unreachable(b, false);
}

}  // namespace

bool is_clear(const BuyerSight& sight) {
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
