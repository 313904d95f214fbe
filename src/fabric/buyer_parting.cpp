// The end of a peering at the buyer, and what waits there for its provider to let go.
#include <algorithm>

#include "fabric/buying.h"
#include "model/tree.h"

namespace spillway::fabric {

void let_go(Buying& b, const liqo::Kind& kind, const liqo::Meta& meta, const std::string& version) {
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

}  // namespace spillway::fabric
