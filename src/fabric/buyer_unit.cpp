// A unit at the buyer while it is wanted: slice, VirtualNode, Node, and what somebody did to them.
#include <algorithm>

#include "base/text.h"
#include "fabric/buying.h"
#include "fabric/granted_labels.h"
#include "fabric/liqo/vk_options.h"
#include "fabric/mending.h"
#include "fabric/mourning.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

constexpr Duration k_ask_again = seconds(30);

liqo::Slice slice_of(const Buying& b, const Purchase& purchase, const BoughtUnit& unit) {
  liqo::Slice slice = liqo::new_slice(
      {unit.name, b.wish.self, b.wish.provider, unit.request, purchase.amounts}, false);
  slice.meta.labels.emplace(k_contract_label, purchase.contract.text);
  return slice;
}

// With the one that Liqo adds, unless a grant says otherwise.
liqo::Texts labels_of(const Buying& b, const Purchase& purchase) {
  liqo::Texts labels = purchase.labels;
  labels.insert_or_assign(std::string(liqo::k_peer_label), b.wish.provider);
  return labels;
}

liqo::VirtualNode virtual_node_of(const Buying& b, const Purchase& purchase, const BoughtUnit& unit,
                                  const std::string& authorities) {
  liqo::VirtualNode made =
      liqo::new_virtual_node({unit.name, b.wish.provider, b.wish.template_name,
                              labels_of(b, purchase), purchase.annotations, purchase.taints});
  if (!authorities.empty()) made.meta.annotations.emplace(k_authorities_annotation, authorities);
  return made;
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

// What it says is its provider's word, copied by Liqo. It is not put right: nobody knows what of it
// is not.
void tell_unreadable(Buying& b, std::string_view kind, const std::string& name,
                     const std::string& unreadable) {
  if (unreadable.empty()) return;
  b.plan.troubles.push_back({fmt::format("{} {}", kind, name), "it cannot be read: " + unreadable,
                             "its provider may have written that; release it if it stays"});
}

// Liqo, once it was forbidden to copy a slice, tries no more before the slice changes: it may have
// been under another key than its provider knew, until that one's units had ended; or before an API
// server that was started again had read who may do what.
void ask_again(Buying& b, const liqo::Slice& slice) {
  const auto said = status_of(slice.conditions, liqo::k_authentication_condition);
  if (!said.empty() && said != liqo::k_denied) return;
  const auto last = parse_instant(slice.meta.annotation(k_asked_again_annotation));
  if (!last && said.empty()) return;  // made without us: by Liqo's own tools
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

// Liqo makes no VirtualNode where its Node is. Or ours is there and was not seen yet: then its
// virtual kubelet is heard.
void clear_abandoned(Buying& b, const BoughtUnit& unit, const BoughtSight& seen) {
  if (has_lost_guests(b, unit.name, seen)) return;
  b.remove(Buying::node(unit.name), seen.node->uid);
}

// Its virtual kubelet would go there with pods and what leaves with them.
void turn_back(Buying& b, const BoughtUnit& unit, const BoughtSight& seen) {
  b.plan.troubles.push_back({"unit " + unit.name,
                             "its provider sends its virtual kubelet elsewhere: " + unit.misled,
                             "allow that API server, or release the unit"});
  if (keep_liqo_from_making(b, *seen.slice) || !seen.virtual_node) return;
  if (!seen.virtual_node->meta.deleted.empty()) return;
  b.remove(b.at(liqo::k_virtual_nodes, unit.name), seen.virtual_node->meta.uid);
}

// With another virtual kubelet, which reads where its provider is now.
void renew(Buying& b, const BoughtUnit& unit, const BoughtSight& seen) {
  b.plan.troubles.push_back({"unit " + unit.name,
                             "its virtual kubelet was made when its provider's cluster had "
                             "another authority, and cannot reach it",
                             "its node is made anew, once nothing is bound to it"});
  if (clear_astray(b, unit.name, seen)) return;
  if (keep_liqo_from_making(b, *seen.slice)) return;
  b.remove(b.at(liqo::k_virtual_nodes, unit.name), seen.virtual_node->meta.uid);
}

// Liqo fills in what is granted only where it may make the VirtualNode itself. Not before ours is
// there: it would make one without labels and taints. Nor while labels are granted that no node of
// ours may have, for it would put them on each time that we take them away; nor what nobody can
// read, in which there may be such.
void fill_in(Buying& b, const Purchase& purchase, const BoughtUnit& unit,
             const liqo::Slice& slice) {
  liqo::Texts bought = labels_of(b, purchase);
  bought.merge(said_by_kubelet(unit.name));
  const auto beyond = labels_beyond(bought, slice.grant.node_labels);
  if (!beyond.empty()) {
    b.plan.troubles.push_back(
        {"unit " + unit.name,
         "its provider grants labels that were not bought: " + name_few(beyond),
         "they are kept from its node; release it, or settle it with the provider"});
  }
  if (!beyond.empty() || !slice.unreadable.empty()) {
    keep_liqo_from_making(b, slice);
  } else if (!has_liqo_make_node(slice)) {
    b.plan.deeds.emplace_back(Merge{b.at(liqo::k_slices, unit.name), liqo::keep_with_node_patch()});
  }
}

}  // namespace

void tell_of_lost_guest(Buying& b, const PodSight& pod, const std::string& why) {
  b.plan.troubles.push_back(
      {"pod " + pod.space + "/" + pod.name,
       why + ", and nothing tells whether its guest still runs",
       "look at its provider, and delete the pod by force when its guest has ended there"});
}

bool keep_liqo_from_making(Buying& b, const liqo::Slice& slice) {
  if (!has_liqo_make_node(slice)) return false;
  b.plan.deeds.emplace_back(
      Merge{b.at(liqo::k_slices, slice.meta.name), liqo::keep_without_node_patch()});
  return true;
}

void keep(Buying& b, const Purchase& purchase, const BoughtUnit& unit, const BoughtSight& seen) {
  if (!seen.slice) {
    if (!is_recorded(purchase, unit.name)) return;
    liqo::Slice made = slice_of(b, purchase, unit);
    made.meta.annotations.emplace(k_asked_again_annotation, to_text(b.now));
    return b.create(b.at(liqo::k_slices, unit.name), to_object(made));
  }
  if (!seen.slice->meta.deleted.empty()) return;  // by somebody's hand; the next look makes it anew
  check_grant(b, purchase, unit, *seen.slice);
  ask_again(b, *seen.slice);
  tell_unreadable(b, "ResourceSlice", unit.name, seen.slice->unreadable);
  // Without its request it is not known what was written.
  if (seen.slice->unreadable.empty() && !unit.request.empty()) {
    mend_slice(slice_of(b, purchase, unit), *seen.slice, b.plan);
  }
  if (!unit.misled.empty()) return turn_back(b, unit, seen);
  const liqo::VirtualNode virtual_node = virtual_node_of(b, purchase, unit, seen.authorities);
  // Its virtual kubelet reads the kubeconfig when it starts.
  if (!seen.virtual_node) {
    if (!seen.has_access) return;
    if (seen.node && seen.node->is_silent) return clear_abandoned(b, unit, seen);
    return b.create(b.at(liqo::k_virtual_nodes, unit.name), to_object(virtual_node));
  }
  if (!seen.virtual_node->meta.deleted.empty()) {  // by somebody's hand
    keep_liqo_from_making(b, *seen.slice);
    return;
  }
  if (is_liqos_own(b, *seen.virtual_node)) return replace(b, *seen.slice, *seen.virtual_node);
  if (is_astray(seen)) return renew(b, unit, seen);
  tell_unreadable(b, "VirtualNode", unit.name, seen.virtual_node->unreadable);
  if (purchase.is_bare) {
    strip_virtual_node(*seen.virtual_node, seen.slice->grant.node_labels, b.plan);
  } else {
    mend_virtual_node(virtual_node, *seen.virtual_node, b.plan);
  }
  fill_in(b, purchase, unit, *seen.slice);
  if (!seen.node) {
    return b.create(
        Buying::node(unit.name),
        liqo::node_to_adopt({unit.name, b.wish.provider, unit.provider_id, purchase.taints}));
  }
  if (seen.node->provider_id.empty()) name_node(b, unit);
}

bool is_served(const BoughtSight& seen) {
  return seen.virtual_node && seen.virtual_node->meta.deleted.empty();
}

bool is_astray(const BoughtSight& seen) {
  if (!seen.virtual_node || seen.authorities.empty()) return false;
  if (seen.node && seen.node->is_ready) return false;
  std::string_view believed = seen.virtual_node->meta.annotation(k_authorities_annotation);
  if (believed.empty()) return false;
  while (!believed.empty()) {
    const std::string_view one = believed.substr(0, believed.find('.'));
    const bool is_hash =
        one.size() == k_authority_hash && std::all_of(one.begin(), one.end(), is_lower_hex);
    if (!is_hash) return false;  // somebody wrote it
    if (seen.authorities.find(one) != std::string::npos) return false;
    believed.remove_prefix(std::min(one.size() + 1, believed.size()));
  }
  return true;
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

}  // namespace spillway::fabric
