#include "services/fabric/sights.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "services/fabric/resource.h"

namespace spillway::agent {
namespace {

namespace liqo = fabric::liqo;

bool is_empty(const fabric::BoughtSight& unit) {
  return !unit.slice && !unit.has_access && !unit.virtual_node && !unit.node && !unit.has_lease;
}

}  // namespace

std::optional<ContractId> contract_of_unit(std::string_view name) {
  constexpr std::string_view k_prefix = "sw-";
  if (!name.starts_with(k_prefix)) return std::nullopt;
  name.remove_prefix(k_prefix.size());
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash + 1 == name.size()) return std::nullopt;
  const bool is_number =
      name.substr(dash + 1).find_first_not_of("0123456789") == std::string_view::npos;
  ContractId contract(std::string(name.substr(0, dash)));
  if (!is_number || !check_contract_id(contract.text)) return std::nullopt;
  return contract;
}

Sights::Sights(kube::Api& api, services::Log& log, Calls calls)
    : api_(api),
      log_(log),
      calls_(std::move(calls)),
      guest_spaces_(
          api, log,
          {[this](const std::string& peer) { changed(peer); }, [this] { calls_.guests_known(); }}) {
}

void Sights::start(bool with_accounts) {
  const kube::Wanted of_peers{.labels = std::string(liqo::k_peer_label)};
  watch(
      liqo::k_namespaces, of_peers, [this](const kube::Object& object) { put_space(object); },
      [this](const kube::Name& name) { drop_space(name.name); });
  watch(
      liqo::k_secrets, of_peers, [this](const kube::Object& object) { put_secret(object); },
      [this](const kube::Name& name) { drop_secret(name); });
  watch(
      liqo::k_tenants, {}, [this](const kube::Object& object) { put_tenant(object); },
      [this](const kube::Name& name) { drop_tenant(name); });
  watch(
      liqo::k_identities, {}, [this](const kube::Object& object) { put_identity(object); },
      [this](const kube::Name& name) { drop_identity(name); });
  watch_copied(liqo::k_renews, &fabric::BuyerSight::renew, &fabric::SellerSight::renews);
  watch(
      liqo::k_slices, {}, [this](const kube::Object& object) { put_slice(object); },
      [this](const kube::Name& name) { drop_slice(name); });
  watch(
      liqo::k_virtual_nodes, {}, [this](const kube::Object& object) { put_virtual_node(object); },
      [this](const kube::Name& name) { drop_virtual_node(name); });
  watch(
      liqo::k_nodes,
      {.labels = fmt::format("{}={}", liqo::k_node_type_label, liqo::k_virtual_node_type)},
      [this](const kube::Object& object) { put_node(object); },
      [this](const kube::Name& name) { drop_node(name.name); });
  watch(
      liqo::k_config_maps, {.fields = fmt::format("metadata.name={}", fabric::k_record_name)},
      [this](const kube::Object& object) { put_record(object); },
      [this](const kube::Name& name) { drop_record(name); });
  watch(
      liqo::k_shadow_pods, {}, [this](const kube::Object& object) { put_guest(object); },
      [this](const kube::Name& name) { drop_guest(name); });
  watch_copied(liqo::k_namespace_maps, &fabric::BuyerSight::map, &fabric::SellerSight::maps);
  watch(
      liqo::k_foreign_clusters, {}, [this](const kube::Object& object) { put_foreign(object); },
      [this](const kube::Name& name) { drop_foreign(name.name); });
  watch_fences();
  if (with_accounts) watch_accounts();
  for (const auto& one : fence_watches_) one->start();
  for (const auto& one : watches_) one->start();
  guest_spaces_.start();
  list_leases();
}

// One namespace may have both: two clusters can buy from each other.
void Sights::watch_copied(const liqo::Kind& kind, OwnRemnant own, Copies copies) {
  watch(
      kind, {},
      [this, &kind, own, copies](const kube::Object& object) {
        put_copied(object, kind, own, copies);
      },
      [this, own, copies](const kube::Name& name) { drop_copied(name, own, copies); });
}

void Sights::watch(const liqo::Kind& kind, kube::Wanted wanted, Put put, Gone gone) {
  kube::WatchCalls calls;
  calls.on_put = std::move(put);
  calls.on_gone = std::move(gone);
  calls.on_synced = [this, &kind] { on_synced(kind); };
  calls.on_trouble = [this](const Error& why) {
    trouble_ = why;
    log_.write(services::Level::warning, "the fabric cannot be seen", {{"why", why.message()}});
  };
  calls.on_open = [this] {
    const bool is_seen = std::none_of(watches_.begin(), watches_.end(),
                                      [](const auto& one) { return one->is_in_trouble(); });
    if (is_seen) trouble_.reset();
  };
  watches_.push_back(
      std::make_unique<kube::Watch>(api_, resource_of(kind), std::move(wanted), std::move(calls)));
}

bool Sights::is_known() const {
  return has_leases_ && !watches_.empty() &&
         std::all_of(watches_.begin(), watches_.end(),
                     [](const auto& one) { return one->is_synced(); });
}

// Of VirtualNodes that came and went between two lists nothing tells but the Leases that they left.
void Sights::on_synced(const liqo::Kind& kind) {
  const bool is_again = is_told_ && kind.plural == liqo::k_virtual_nodes.plural;
  if (is_again) list_leases();
  tell_known();
}

void Sights::tell_known() {
  if (is_told_ || !is_known()) return;
  is_told_ = true;
  calls_.known();
}

// Of units that ended while nobody looked.
void Sights::list_leases() {
  api_.list(kube::k_leases, {}, life_.guard([this](const kube::ListPage& page) {
    for (const kube::Object& lease : page.items) {
      const std::string peer = liqo::peer_of_tenant_namespace(kube::space_in(lease));
      const std::string name(kube::name_in(lease));
      if (peer.empty() || !contract_of_unit(name)) continue;
      if (!std::exchange(unit(peer, name).has_lease, true)) changed(peer);
    }
  }),
            life_.guard([this](const Result<std::string>& listed) {
              if (!listed) {
                log_.write(services::Level::warning, "leases of units cannot be seen",
                           {{"why", listed.error().message()}});
                api_.loop().after(seconds(5), life_.guard([this] { list_leases(); }));
                return;
              }
              has_leases_ = true;
              tell_known();
            }));
}

void Sights::lease_is_gone(const std::string& peer, const std::string& name) {
  unit(peer, name).has_lease = false;
  forget_unit(peer, name);
}

// ---- what the machines look at -------------------------------------------------------------

const fabric::SellerSight& Sights::seller(const std::string& peer) {
  fabric::SellerSight& sight = sellers_[peer];
  if (guests_changed_.erase(peer) == 0) return sight;
  sight.guests.clear();
  sight.with_identity.clear();
  for (const auto& [space, of] : space_peers_) {
    const auto found = guests_.find(space);
    if (of != peer || found == guests_.end()) continue;
    for (const auto& [name, guest] : found->second) {
      const fabric::Place at{liqo::k_shadow_pods, space, name};
      sight.guests[guest.creator].push_back(at);
      if (guest.has_identity) sight.with_identity[guest.creator].push_back(at);
    }
  }
  return sight;
}

const fabric::BuyerSight& Sights::buyer(const std::string& peer) { return buyers_[peer]; }

bool Sights::has_any_of(const std::string& unit) const {
  const auto has_bought = [&](const auto& of) { return of.second.units.contains(unit); };
  const auto has_sold = [&](const auto& of) {
    const fabric::SellerSight& sold = of.second;
    const auto& secrets = sold.certificates;
    return sold.slices.contains(unit) || (sold.record && sold.record->units.contains(unit)) ||
           std::find(secrets.begin(), secrets.end(), unit) != secrets.end();
  };
  return std::any_of(buyers_.begin(), buyers_.end(), has_bought) ||
         std::any_of(sellers_.begin(), sellers_.end(), has_sold);
}

std::vector<std::string> Sights::peers() const {
  std::set<std::string> all;
  for (const auto& [peer, sight] : sellers_) {
    if (!is_clear(sight)) all.insert(peer);
  }
  for (const auto& [peer, sight] : buyers_) {
    if (!is_clear(sight)) all.insert(peer);
  }
  return {all.begin(), all.end()};
}

std::set<std::string> Sights::nodes_of(const std::string& peer) const {
  std::set<std::string> nodes;
  const auto found = buyers_.find(peer);
  if (found == buyers_.end()) return nodes;
  for (const auto& [name, seen] : found->second.units) {
    if (seen.node) nodes.insert(name);
  }
  return nodes;
}

fabric::BoughtSight& Sights::unit(const std::string& peer, const std::string& name) {
  fabric::BoughtSight& found = buyers_[peer].units[name];
  unit_peers_[name] = peer;
  const auto node = nodes_.find(name);
  if (node != nodes_.end()) {
    found.node = std::move(node->second);
    nodes_.erase(node);
  }
  return found;
}

void Sights::forget_unit(const std::string& peer, const std::string& name) {
  auto& units = buyers_[peer].units;
  const auto found = units.find(name);
  if (found == units.end() || !is_empty(found->second)) return;
  units.erase(found);
  unit_peers_.erase(name);
}

void Sights::complain(const kube::Object& object, const Error& why) {
  constexpr size_t k_most_complaints = 1000;
  const std::string what = fmt::format("{} {}/{}", model::text_at(object, {"kind"}),
                                       kube::space_in(object), kube::name_in(object));
  if (complaints_.size() >= k_most_complaints) complaints_.clear();
  const std::string message = why.message();
  if (std::exchange(complaints_[what], message) == message) return;
  log_.write(services::Level::warning, "an object of the fabric cannot be read; it is passed over",
             {{"object", what}, {"why", message}});
}

// ---- pods ----------------------------------------------------------------------------------

void Sights::follow_pods(const std::string& peer, const std::set<std::string>& nodes) {
  std::erase_if(pods_, [&](const auto& one) {
    return one.second.peer == peer && !nodes.contains(one.first);
  });
  for (const std::string& node : nodes) {
    const auto [at, is_new] = pods_.try_emplace(node);
    if (!is_new) continue;
    at->second.peer = peer;
    kube::WatchCalls calls;
    calls.on_put = [this, node](const kube::Object& object) { put_pod(node, object); };
    calls.on_gone = [this, node](const kube::Name& name) {
      pods_.at(node).pods.erase(name);
      show_pods(node);
    };
    calls.on_synced = [this, node] { show_pods(node); };
    at->second.watch = std::make_unique<kube::Watch>(
        api_, kube::k_pods, kube::Wanted{.fields = "spec.nodeName=" + node}, std::move(calls));
    show_pods(node);
    at->second.watch->start();
  }
}

void Sights::put_pod(const std::string& node, const kube::Object& object) {
  auto& pods = pods_.at(node).pods;
  const kube::Name name = kube::key_of(object);
  if (auto seen = fabric::see_pod(object)) {
    pods.insert_or_assign(name, std::move(*seen));
  } else {
    pods.erase(name);
  }
  show_pods(node);
}

void Sights::show_pods(const std::string& node) {
  const Pods& seen = pods_.at(node);
  auto& units = buyers_[seen.peer].units;
  const auto found = units.find(node);
  if (found == units.end()) return;
  std::vector<fabric::PodSight> pods;
  // One that nobody can evict: it has been told to go.
  if (!seen.watch->is_synced()) pods.push_back({{}, {}, true});
  for (const auto& [name, pod] : seen.pods) pods.push_back(pod);
  found->second.pods = std::move(pods);
  changed(seen.peer);
}

}  // namespace spillway::agent
