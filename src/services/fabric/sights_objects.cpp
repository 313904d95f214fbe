// Each kind of object: read it, and put it where its machine looks.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/base64.h"
#include "kube/access.h"
#include "pki/certificate.h"
#include "pki/hash.h"
#include "services/fabric/sights.h"

namespace spillway::agent {
namespace {

namespace liqo = fabric::liqo;

// What the machines look at in labels and annotations of an object that somebody may have filled.
constexpr std::string_view k_words[] = {
    liqo::k_replicated_label,         liqo::k_create_virtual_node_annotation,
    liqo::k_cordon_annotation,        fabric::k_end_annotation,
    fabric::k_asked_again_annotation, fabric::k_fenced_annotation,
    fabric::k_authorities_annotation};

bool is_copy(const liqo::Slice& slice) {
  return slice.meta.label(liqo::k_replicated_label) == "true";
}

// What follows the prefix; none: it begins otherwise.
std::optional<std::string> after_prefix(const std::string& text, const std::string& prefix) {
  if (!text.starts_with(prefix) || text.size() == prefix.size()) return std::nullopt;
  return text.substr(prefix.size());
}

// Of hundreds of units no machine looks at certificates, nor at what Liqo writes into a
// VirtualNode: that would be half of what is kept.
void lighten(liqo::Slice& slice) {
  if (is_copy(slice))
    return slice.access.reset();  // of those, whoever decides writes all conditions
  if (slice.access) slice.access = {{}, {}, slice.access->api_server, slice.access->proxy};
  for (liqo::Condition& one : slice.conditions) one = {one.type, one.status, {}, {}, {}};
}
void lighten(liqo::VirtualNode& node) {
  node.node_selector = {};
  node.conditions = liqo::Conditions();  // {} would keep its room
  node.meta.owners = std::vector<liqo::Owner>();
}

// Nothing else of a kubeconfig is kept: Liqo's key is in it. Of one that nobody can read, nothing:
// it leads nowhere.
kube::Lead lead_in(const kube::Object& secret) {
  const auto text = from_base64(model::text_at(secret, {"data", "kubeconfig"}));
  return text ? kube::read_lead(*text).value_or(kube::Lead{}) : kube::Lead{};
}

std::string hashes_of(const std::string& authorities_pem) {
  const auto bundle = pki::split_bundle(authorities_pem);
  if (!bundle) return {};
  std::vector<std::string> hashes;
  for (const std::string& one : *bundle) {
    hashes.push_back(pki::sha256_hex(one).substr(0, fabric::k_authority_hash));
  }
  return fmt::format("{}", fmt::join(hashes, "."));
}

// A NamespaceMap is called as its provider is, a Renew as the identity there.
bool is_own_copied(const kube::Name& name, const std::string& provider) {
  return name.name == provider || name.name == liqo::control_plane_identity_name(provider);
}

bool is_control_plane_access(const kube::Name& name, const std::string& provider) {
  return name.name == liqo::kubeconfig_secret_name(liqo::control_plane_identity_name(provider));
}

bool is_same(const fabric::NodeSight& a, const fabric::NodeSight& b) {
  return a.uid == b.uid && a.provider_id == b.provider_id && a.is_ready == b.is_ready &&
         a.is_silent == b.is_silent && a.is_cordoned == b.is_cordoned &&
         std::equal(a.taints.begin(), a.taints.end(), b.taints.begin(), b.taints.end(),
                    model::same);
}

}  // namespace

void Sights::put_space(const kube::Object& object) {
  using Use = fabric::PeerSpace::Use;
  const std::string name(kube::name_in(object));
  fabric::PeerSpace seen = fabric::see_peer_space(object);
  const std::string& peer = seen.peer;
  // Edited, it is as good as gone, until whoever needs it puts its labels right.
  if (seen.use == Use::edited) return drop_space(name);
  if (seen.use == Use::somebody) return;
  if (seen.use == Use::guests) {
    guest_spaces_.put_space(object);
    std::string& known = space_peers_[name];
    if (known == peer) return;
    if (!known.empty()) guests_changed_.insert(known);
    known = peer;
    guests_changed_.insert(peer);
    return changed(peer);
  }
  const bool is_there = !seen.is_ending;
  fabric::SellerSight& sold = sellers_[peer];
  const bool is_same = sold.account.request == seen.request && sold.provider == seen.provider;
  sold.account.request = std::move(seen.request);
  sold.provider = std::move(seen.provider);
  if (std::exchange(sold.has_space, is_there) == is_there && is_same) return;
  buyers_[peer].has_space = is_there;
  changed(peer);
}

void Sights::drop_space(const std::string& name) {
  const auto guests = space_peers_.find(name);
  if (guests != space_peers_.end()) {
    const std::string peer = guests->second;
    space_peers_.erase(guests);
    guest_spaces_.drop_space(name);
    guests_changed_.insert(peer);
    calls_.space_gone(peer, name);
    return changed(peer);
  }
  const std::string peer = liqo::peer_of_tenant_namespace(name);
  if (peer.empty()) return;
  sellers_[peer].has_space = false;
  sellers_[peer].account.request.clear();
  sellers_[peer].provider.clear();
  buyers_[peer].has_space = false;
  changed(peer);
}

// ---- Secrets -------------------------------------------------------------------------------

void Sights::put_secret(const kube::Object& object) {
  const kube::Name name = kube::key_of(object);
  const std::string peer = liqo::peer_of_tenant_namespace(name.space);
  if (peer.empty()) return;
  if (name.name == liqo::k_nonce_secret) {
    keep(object, sellers_[peer].nonce, liqo::read_nonce(object));
    return changed(peer);
  }
  if (name.name == liqo::k_certificate_secret) {
    if (!std::exchange(sellers_[peer].has_certificate, true)) changed(peer);
    return;
  }
  if (const auto slice = after_prefix(name.name, liqo::certificate_secret_name(""))) {
    auto& all = sellers_[peer].certificates;
    if (std::find(all.begin(), all.end(), *slice) != all.end()) return;
    all.push_back(*slice);
    return changed(peer);
  }
  if (is_control_plane_access(name, peer)) {
    keep(object, buyers_[peer].access, liqo::read_remnant(object, liqo::k_secrets));
    return changed(peer);
  }
  const auto slice = after_prefix(name.name, kubeconfig_prefix());
  if (!slice || !contract_of_unit(*slice)) return;
  const bool has_access = !model::text_at(object, {"data", "kubeconfig"}).empty();
  kube::Lead lead = lead_in(object);
  std::string authorities = hashes_of(lead.authorities_pem);
  fabric::BoughtSight& seen = unit(peer, *slice);
  const bool is_same = seen.has_access == has_access && seen.authorities == authorities &&
                       seen.server == lead.server && seen.proxy == lead.proxy;
  seen.has_access = has_access;
  seen.authorities = std::move(authorities);
  seen.server = std::move(lead.server);
  seen.proxy = std::move(lead.proxy);
  if (!is_same) changed(peer);
  forget_unit(peer, *slice);
}

std::string Sights::kubeconfig_prefix() {
  return liqo::kubeconfig_secret_name(liqo::slice_identity_name(""));
}

void Sights::drop_secret(const kube::Name& name) {
  const std::string peer = liqo::peer_of_tenant_namespace(name.space);
  if (peer.empty()) return;
  if (name.name == liqo::k_nonce_secret) sellers_[peer].nonce.reset();
  if (name.name == liqo::k_certificate_secret) sellers_[peer].has_certificate = false;
  if (is_control_plane_access(name, peer)) buyers_[peer].access.reset();
  if (const auto slice = after_prefix(name.name, liqo::certificate_secret_name(""))) {
    std::erase(sellers_[peer].certificates, *slice);
  }
  const auto slice = after_prefix(name.name, kubeconfig_prefix());
  if (slice && contract_of_unit(*slice)) {
    unit(peer, *slice).has_access = false;
    unit(peer, *slice).authorities.clear();
    forget_unit(peer, *slice);
  }
  changed(peer);
}

// ---- the handshake -------------------------------------------------------------------------

void Sights::put_tenant(const kube::Object& object) {
  const std::string peer = liqo::peer_of_tenant_namespace(kube::space_in(object));
  if (peer.empty() || kube::name_in(object) != peer) return;
  keep(object, sellers_[peer].tenant, liqo::read_tenant(object));
  changed(peer);
}

void Sights::drop_tenant(const kube::Name& name) {
  const std::string peer = liqo::peer_of_tenant_namespace(name.space);
  if (peer.empty() || name.name != peer) return;
  sellers_[peer].tenant.reset();
  changed(peer);
}

void Sights::put_identity(const kube::Object& object) {
  const std::string peer = liqo::peer_of_tenant_namespace(kube::space_in(object));
  if (peer.empty() || kube::name_in(object) != liqo::control_plane_identity_name(peer)) return;
  keep(object, buyers_[peer].identity, liqo::read_identity(object));
  changed(peer);
}

void Sights::drop_identity(const kube::Name& name) {
  const std::string peer = liqo::peer_of_tenant_namespace(name.space);
  if (peer.empty() || name.name != liqo::control_plane_identity_name(peer)) return;
  buyers_[peer].identity.reset();
  changed(peer);
}

// A copy is called after us, our own after the peer that it is copied to; what anybody made may be
// called anything.
void Sights::put_copied(const kube::Object& object, const liqo::Kind& kind, OwnRemnant own,
                        Copies copies) {
  const kube::Name name = kube::key_of(object);
  const std::string peer = liqo::peer_of_tenant_namespace(name.space);
  if (peer.empty()) return;
  if (kube::label_in(object, liqo::k_replicated_label) == "true") {
    if (!(sellers_[peer].*copies).insert(name.name).second) return;
  } else {
    (sellers_[peer].*copies).erase(name.name);
    if (is_own_copied(name, peer)) {
      keep(object, buyers_[peer].*own, liqo::read_remnant(object, kind));
    }
  }
  changed(peer);
}

void Sights::drop_copied(const kube::Name& name, OwnRemnant own, Copies copies) {
  const std::string peer = liqo::peer_of_tenant_namespace(name.space);
  if (peer.empty()) return;
  if (is_own_copied(name, peer)) (buyers_[peer].*own).reset();
  (sellers_[peer].*copies).erase(name.name);
  changed(peer);
}

void Sights::put_record(const kube::Object& object) {
  const std::string peer = liqo::peer_of_tenant_namespace(kube::space_in(object));
  if (peer.empty()) return;
  keep(object, sellers_[peer].record, fabric::read_record(object));
  sellers_[peer].is_record_unreadable = !sellers_[peer].record;
  changed(peer);
}

void Sights::drop_record(const kube::Name& name) {
  const std::string peer = liqo::peer_of_tenant_namespace(name.space);
  if (peer.empty()) return;
  sellers_[peer].record.reset();
  sellers_[peer].is_record_unreadable = false;
  changed(peer);
}

// Liqo writes its conditions again and again; of the rest something may follow.
void Sights::put_foreign(const kube::Object& object) {
  const std::string peer(kube::name_in(object));
  auto& slot = buyers_[peer].foreign;
  const std::optional<liqo::ForeignCluster> before = slot;
  keep(object, slot, liqo::read_foreign_cluster(object));
  const bool is_same_word = before && slot && before->is_reachable() == slot->is_reachable() &&
                            before->role == slot->role &&
                            before->meta.deleted == slot->meta.deleted &&
                            before->meta.annotation(liqo::k_unreachable_annotation) ==
                                slot->meta.annotation(liqo::k_unreachable_annotation);
  if (!is_same_word) changed(peer);
}

void Sights::drop_foreign(const std::string& name) {
  buyers_[name].foreign.reset();
  changed(name);
}

// ---- units ---------------------------------------------------------------------------------

void Sights::put_slice(const kube::Object& object) {
  const kube::Name name = kube::key_of(object);
  const std::string peer = liqo::peer_of_tenant_namespace(name.space);
  if (peer.empty()) return;
  liqo::Slice seen = liqo::see_slice(object, k_words);
  lighten(seen);
  if (is_copy(seen)) {
    sellers_[peer].slices.insert_or_assign(name.name, std::move(seen));
  } else if (contract_of_unit(name.name)) {
    unit(peer, name.name).slice = std::move(seen);
  }
  changed(peer);
}

void Sights::drop_slice(const kube::Name& name) {
  const std::string peer = liqo::peer_of_tenant_namespace(name.space);
  if (peer.empty()) return;
  sellers_[peer].slices.erase(name.name);
  if (contract_of_unit(name.name)) {
    unit(peer, name.name).slice.reset();
    forget_unit(peer, name.name);
  }
  changed(peer);
}

void Sights::put_virtual_node(const kube::Object& object) {
  const kube::Name name = kube::key_of(object);
  const std::string peer = liqo::peer_of_tenant_namespace(name.space);
  if (peer.empty() || !contract_of_unit(name.name)) return;
  liqo::VirtualNode seen = liqo::see_virtual_node(object, k_words);
  lighten(seen);
  unit(peer, name.name).virtual_node = std::move(seen);
  changed(peer);
}

// Its virtual kubelet had a Lease, which Liqo leaves behind.
void Sights::drop_virtual_node(const kube::Name& name) {
  const std::string peer = liqo::peer_of_tenant_namespace(name.space);
  if (peer.empty() || !contract_of_unit(name.name)) return;
  fabric::BoughtSight& seen = unit(peer, name.name);
  seen.virtual_node.reset();
  seen.has_lease = true;
  changed(peer);
}

void Sights::put_node(const kube::Object& object) {
  const std::string name(kube::name_in(object));
  if (!contract_of_unit(name)) return;
  fabric::NodeSight seen = fabric::see_node(object);
  const auto known = unit_peers_.find(name);
  const std::string peer = known != unit_peers_.end()
                               ? known->second
                               : std::string(kube::label_in(object, liqo::k_peer_label));
  if (peer.empty()) {
    nodes_.insert_or_assign(name, std::move(seen));
    return;
  }
  auto& slot = unit(peer, name).node;
  const bool is_news = !slot || !is_same(*slot, seen);
  slot = std::move(seen);  // also its version alone: changes are about the last one
  if (is_news) changed(peer);
}

void Sights::drop_node(const std::string& name) {
  nodes_.erase(name);
  const auto known = unit_peers_.find(name);
  if (known == unit_peers_.end()) return;
  const std::string peer = known->second;
  unit(peer, name).node.reset();
  forget_unit(peer, name);
  changed(peer);
}

// ---- guests --------------------------------------------------------------------------------

void Sights::put_guest(const kube::Object& object) {
  const kube::Name name = kube::key_of(object);
  fabric::GuestSight guest = fabric::see_guest(object);
  fabric::GuestSight& known = guests_[name.space][name.name];
  if (known == guest) return;
  known = std::move(guest);
  tell_of_guests(name.space);
}

void Sights::drop_guest(const kube::Name& name) {
  const auto space = guests_.find(name.space);
  if (space == guests_.end()) return;
  space->second.erase(name.name);
  if (space->second.empty()) guests_.erase(space);
  tell_of_guests(name.space);
}

void Sights::tell_of_guests(const std::string& space) {
  const auto peer = space_peers_.find(space);
  if (peer == space_peers_.end()) return;
  guests_changed_.insert(peer->second);
  changed(peer->second);
}

}  // namespace spillway::agent
