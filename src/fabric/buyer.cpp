#include "fabric/buyer.h"

#include <algorithm>

#include "model/tree.h"

namespace spillway::fabric {
namespace {

// Some at a time: a message has its bounds, and a request some hundred bytes.
constexpr size_t k_most_requests = 32;

struct Buying {
  const BuyerWish& wish;
  const BuyerSight& sight;
  Instant now;
  std::string space = liqo::tenant_namespace_name(wish.provider);
  Plan plan = {};

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
  return std::any_of(purchase.units.begin(), purchase.units.end(),
                     [](const BoughtUnit& unit) { return !unit.drained_by; });
}

bool is_recorded(const Purchase& purchase, const std::string& unit) {
  if (!purchase.identity) return false;
  const auto& units = purchase.identity->units;
  return std::find(units.begin(), units.end(), unit) != units.end();
}

// ---- the handshake -------------------------------------------------------------------------

// What the provider does not have yet. It says itself when it needs to know our control plane.
void ask(Buying& b, const Purchase& purchase) {
  const bool is_known = b.sight.identity || purchase.identity;
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

// The last that was heard: a provider that was installed anew has another authority.
const IdentityTalk* last_identity(const BuyerWish& wish) {
  const IdentityTalk* last = nullptr;
  for (const Purchase& purchase : wish.purchases) {
    if (purchase.identity) last = &*purchase.identity;
  }
  return last;
}

void settle_identity(Buying& b) {
  const IdentityTalk* heard = last_identity(b.wish);
  if (heard == nullptr) return;
  if (!b.sight.identity) {
    const liqo::Identity made = liqo::new_identity(b.wish.provider, heard->access, heard->space);
    return b.create(b.at(liqo::k_identities, made.meta.name), to_object(made));
  }
  const liqo::Identity& known = *b.sight.identity;
  const bool is_same = known.access.authority == heard->access.authority &&
                       known.access.api_server == heard->access.api_server &&
                       known.space == heard->space;
  // Liqo makes nothing of a change: it goes, and the next look makes another.
  if (!is_same && known.meta.deleted.empty()) {
    b.remove(b.at(liqo::k_identities, known.meta.name), known.meta.uid);
  }
}

// ---- a unit --------------------------------------------------------------------------------

void make_slice(Buying& b, const Purchase& purchase, const BoughtUnit& unit) {
  liqo::Slice slice = liqo::new_slice(
      {unit.name, b.wish.self, b.wish.provider, unit.request, purchase.amounts}, false);
  slice.meta.labels.emplace(k_contract_label, purchase.contract.text);
  b.create(b.at(liqo::k_slices, unit.name), to_object(slice));
}

void make_virtual_node(Buying& b, const Purchase& purchase, const BoughtUnit& unit) {
  const liqo::VirtualNode made =
      liqo::new_virtual_node({unit.name, b.wish.provider, b.wish.template_name, purchase.labels,
                              purchase.annotations, purchase.taints});
  b.create(b.at(liqo::k_virtual_nodes, unit.name), to_object(made));
}

void name_node(Buying& b, const BoughtUnit& unit) {
  model::Node patch = model::object_node();
  model::put(model::ensure(patch, {"spec"}), "providerID", model::text_node(unit.provider_id));
  b.plan.deeds.emplace_back(Merge{Buying::node(unit.name), std::move(patch)});
}

bool has_liqo_make_node(const liqo::Slice& slice) {
  return slice.meta.annotation(liqo::k_create_virtual_node_annotation) == "true";
}

void keep(Buying& b, const Purchase& purchase, const BoughtUnit& unit, const BoughtSight& seen) {
  if (!seen.slice) {
    if (is_recorded(purchase, unit.name)) make_slice(b, purchase, unit);
    return;
  }
  if (!seen.slice->meta.deleted.empty()) return;  // by somebody's hand; the next look makes it anew
  if (status_of(seen.slice->conditions, liqo::k_resources_condition) == liqo::k_denied) {
    b.plan.troubles.push_back({"unit " + unit.name, "its provider denies what was bought",
                               "release it; the contract says what is owed"});
  }
  // Its virtual kubelet reads the kubeconfig when it starts.
  if (!seen.virtual_node) {
    if (seen.has_access) make_virtual_node(b, purchase, unit);
    return;
  }
  if (!seen.virtual_node->meta.deleted.empty()) return;
  // Not before: Liqo would make one without labels and taints. Not never: it fills in what is
  // granted only where it may make the VirtualNode itself.
  if (!has_liqo_make_node(*seen.slice)) {
    b.plan.deeds.emplace_back(Merge{b.at(liqo::k_slices, unit.name), liqo::keep_with_node_patch()});
  }
  if (!seen.node) {
    return b.create(Buying::node(unit.name),
                    liqo::node_to_adopt(unit.name, unit.provider_id, purchase.taints));
  }
  if (seen.node->provider_id.empty()) name_node(b, unit);
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

// A slice goes when the provider's copy is gone. If there is nobody to say so, it goes all the
// same.
void let_go(Buying& b, const liqo::Slice& slice) {
  const auto since = parse_instant(slice.meta.deleted);
  if (!since) return;
  if (*since + k_patience > b.now) return b.plan.look_by(*since + k_patience);
  model::Node patch = model::object_node();
  model::put(model::ensure(patch, {"metadata"}), "finalizers", model::Node{});
  b.plan.deeds.emplace_back(Merge{b.at(liqo::k_slices, slice.meta.name), std::move(patch)});
}

// With nothing on it, and nothing to come, all goes at once. A slice that is being deleted makes no
// VirtualNode, and Liqo needs none of the two to be there for the other's end.
void end_empty(Buying& b, const std::string& name, const BoughtSight& seen) {
  if (seen.slice->meta.deleted.empty()) b.remove(b.at(liqo::k_slices, name), seen.slice->meta.uid);
  const liqo::Meta& meta = seen.virtual_node->meta;
  if (meta.deleted.empty()) b.remove(b.at(liqo::k_virtual_nodes, name), meta.uid);
}

UnitStep end(Buying& b, const std::string& name, const BoughtSight& seen, Instant drained_by) {
  if (drain(b, name, seen, drained_by)) return UnitStep::draining;
  // Of what has no time left nobody knows what runs there.
  const bool is_drained = drained_by > b.now;
  if (is_drained && seen.slice && seen.virtual_node) {
    end_empty(b, name, seen);
    return UnitStep::ending;
  }
  // Else Liqo would make the VirtualNode again.
  const bool is_slice_there = seen.slice && seen.slice->meta.deleted.empty();
  if (is_slice_there && has_liqo_make_node(*seen.slice)) {
    b.plan.deeds.emplace_back(Merge{b.at(liqo::k_slices, name), liqo::keep_without_node_patch()});
    return UnitStep::ending;
  }
  if (seen.virtual_node) {
    const liqo::Meta& meta = seen.virtual_node->meta;
    if (meta.deleted.empty()) b.remove(b.at(liqo::k_virtual_nodes, name), meta.uid);
    return UnitStep::ending;
  }
  if (seen.slice) {
    const liqo::Meta& meta = seen.slice->meta;
    if (meta.deleted.empty()) {
      b.remove(b.at(liqo::k_slices, name), meta.uid);
    } else {
      let_go(b, *seen.slice);
    }
    return UnitStep::ending;
  }
  if (seen.node) b.remove(Buying::node(name), seen.node->uid);
  if (seen.has_lease) b.remove(b.at(liqo::k_leases, name));
  return UnitStep::gone;
}

void part(Buying& b) {
  const bool has_units = std::any_of(b.sight.units.begin(), b.sight.units.end(), [](const auto& u) {
    return u.second.slice || u.second.virtual_node || u.second.node;
  });
  if (has_units || !b.sight.identity) return;
  const Instant until = b.wish.warm_until + (b.sight.has_map ? k_patience : Duration{});
  if (until > b.now) return b.plan.look_by(until);
  const liqo::Meta& meta = b.sight.identity->meta;
  if (meta.deleted.empty()) b.remove(b.at(liqo::k_identities, meta.name), meta.uid);
}

}  // namespace

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
        b.plan.units.push_back({unit.name, end(b, unit.name, seen, *unit.drained_by)});
      } else {
        keep(b, purchase, unit, seen);
        b.plan.units.push_back({unit.name, step_of(purchase, unit, seen)});
      }
    }
  }
  // Nobody pays for these any more.
  for (const auto& [name, seen] : sight.units) {
    if (!named.contains(name)) b.plan.units.push_back({name, end(b, name, seen, now)});
  }
  if (!has_live) part(b);
  return std::move(b.plan);
}

}  // namespace spillway::fabric
