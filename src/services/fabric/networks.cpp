#include "services/fabric/networks.h"

#include <algorithm>
#include <utility>

#include "services/agent/never.h"
#include "services/fabric/resource.h"

namespace spillway::agent {
namespace {

namespace liqo = fabric::liqo;

bool makes(const fabric::Deed& deed, const liqo::Kind& kind) {
  const auto* made = std::get_if<fabric::Create>(&deed);
  return made != nullptr && made->at.kind.plural == kind.plural;
}

}  // namespace

Networks::Networks(Dealings& dealings, kube::Api& api, services::Log& log, Tellings& tellings,
                   int& in_flight, NetworkOptions options,
                   std::function<void(const std::string& peer)> changed)
    : dealings_(dealings),
      api_(api),
      log_(log),
      tellings_(tellings),
      in_flight_(in_flight),
      options_(std::move(options)),
      changed_(std::move(changed)) {}

void Networks::start() {
  if (!is_on() && dealings_.state().networks.empty()) return;
  using fabric::NetworkSight;
  watch_one(&NetworkSight::configuration, liqo::read_configuration);
  watch_one(&NetworkSight::server, liqo::read_gateway_server);
  watch_one(&NetworkSight::client, liqo::read_gateway_client);
  watch_one(&NetworkSight::peer_key, liqo::read_public_key);
  watch_one(&NetworkSight::connection, liqo::read_connection);
  watch_keys();
  watch_own();
  for (const auto& one : watches_) one->start();
}

bool Networks::is_known() const {
  return !watches_.empty() && std::all_of(watches_.begin(), watches_.end(),
                                          [](const auto& one) { return one->is_synced(); });
}

// ---- what is seen --------------------------------------------------------------------------

void Networks::watch(const liqo::Kind& kind, kube::Wanted wanted, Put put, Gone gone) {
  kube::WatchCalls calls;
  calls.on_put = [put = std::move(put)](const kube::Object& object) {
    const std::string peer = liqo::peer_of_tenant_namespace(kube::space_in(object));
    put(peer, object);
  };
  calls.on_gone = [gone = std::move(gone)](const kube::Name& name) {
    gone(liqo::peer_of_tenant_namespace(name.space), name);
  };
  calls.on_synced = [this] { own_changed(); };
  calls.on_trouble = [this](const Error& why) {
    trouble_ = why;
    log_.write(services::Level::warning, "networks of peers cannot be seen",
               {{"why", why.message()}});
    own_changed();
  };
  calls.on_open = [this] { trouble_.reset(); };
  watches_.push_back(
      std::make_unique<kube::Watch>(api_, resource_of(kind), std::move(wanted), std::move(calls)));
}

// Of its kind there is one in a tenant namespace. Those of gateways have the peer's name, what the
// gateways make has another.
template <class T>
void Networks::watch_one(std::optional<T> fabric::NetworkSight::*slot,
                         Result<T> (*read)(const model::Node&)) {
  watch(
      T::k_kind, {.labels = std::string(liqo::k_peer_label)},
      [this, slot, read](const std::string& peer, const kube::Object& object) {
        if (peer.empty()) return;
        auto found = read(object);
        if (!found) return complain(object, found.error());
        (sights_[peer].*slot) = std::move(*found);
        find_key(peer);
        changed_(peer);
      },
      [this, slot](const std::string& peer, const kube::Name& name) {
        if (peer.empty()) return;
        auto& known = sights_[peer].*slot;
        if (known && known->meta.name != name.name) return;
        known.reset();
        find_key(peer);
        changed_(peer);
      });
}

void Networks::watch_keys() {
  watch(
      liqo::k_secrets, {.labels = fmt::format("{}=true", liqo::k_gateway_label)},
      [this](const std::string& peer, const kube::Object& object) {
        const auto keys = liqo::read_gateway_keys(object);
        if (!keys) return complain(object, keys.error());
        keys_[kube::key_of(object)] = keys->public_key;
        if (peer.empty()) return;
        find_key(peer);
        changed_(peer);
      },
      [this](const std::string& peer, const kube::Name& name) {
        keys_.erase(name);
        if (peer.empty()) return;
        find_key(peer);
        changed_(peer);
      });
}

// The gateway says in which Secret it is.
void Networks::find_key(const std::string& peer) {
  fabric::NetworkSight& seen = sights_[peer];
  const liqo::Reference none;
  const liqo::Reference& keys = seen.server   ? seen.server->keys
                                : seen.client ? seen.client->keys
                                              : none;
  const std::string space = keys.space.empty() ? liqo::tenant_namespace_name(peer) : keys.space;
  const auto found = keys_.find({space, keys.name});
  seen.own_key = found == keys_.end() ? std::string() : found->second;
}

void Networks::watch_own() {
  const std::string home(liqo::k_namespace);
  watch(
      liqo::k_networks, {.space = home, .labels = std::string(liqo::k_network_type_label)},
      [this](const std::string&, const kube::Object& object) {
        auto found = liqo::read_network(object);
        if (!found) return complain(object, found.error());
        const std::string name = found->meta.name;
        own_.insert_or_assign(name, std::move(*found));
        own_changed();
      },
      [this](const std::string&, const kube::Name& name) {
        own_.erase(name.name);
        own_changed();
      });
  watch(
      liqo::k_addresses,
      {.space = home, .fields = fmt::format("metadata.name={}", liqo::k_proxy_address)},
      [this](const std::string&, const kube::Object& object) {
        const auto found = liqo::read_address(object);
        if (!found) return complain(object, found.error());
        proxy_ = found->address;
        own_changed();
      },
      [this](const std::string&, const kube::Name&) {
        proxy_.clear();
        own_changed();
      });
}

void Networks::own_changed() {
  for (const auto& [peer, memory] : dealings_.state().networks) changed_(peer);
}

void Networks::complain(const kube::Object& object, const Error& why) {
  log_.write(services::Level::warning, "an object of Liqo's networks cannot be read",
             {{"object", std::string(kube::name_in(object))}, {"why", why.message()}});
}

const fabric::NetworkSight& Networks::sight(const std::string& peer) { return sights_[peer]; }

// ---- what is wanted ------------------------------------------------------------------------

void Networks::fill(fabric::NetworkWish& wish) const {
  for (const auto& [name, network] : own_) {
    if (network.range.empty()) continue;
    if (network.is_of_pods()) wish.ranges.pods.push_back(network.range);
    if (network.is_external()) wish.ranges.external.push_back(network.range);
  }
  wish.proxy = proxy_;
  wish.can_serve = options_.can_serve;
  wish.is_in_band = options_.is_in_band;
  wish.serving = options_.serving;
  const auto with = sides_.find(wish.peer);
  wish.owes_answer = with != sides_.end() && with->second->owes_answer;
}

Instant Networks::work(const fabric::NetworkWish& wish, bool has_space) {
  Side& with = side(wish.peer);
  fabric::NetworkSight seen = sight(wish.peer);
  seen.has_space = has_space;
  fabric::NetworkPlan made = plan_network(wish, seen, api_.loop().now());
  with.step = made.step;
  with.in_band = in_band_url(wish, seen);
  with.is_idle = made.plan.deeds.empty();
  with.makings.are_there(made.plan.kept);
  for (const fabric::Trouble& edit : with.edits.find(made.plan.kept)) {
    tellings_.tell_once(liqo::tenant_namespace_name(wish.peer), edit);
  }
  Instant next = made.plan.look_again.value_or(k_never);
  next = std::min(next, with.doings.want(made.plan.deeds));
  next = std::min(next, with.sayings.want(made.plan.deeds));
  std::vector<fabric::Trouble> troubles = std::move(made.plan.troubles);
  for (fabric::Trouble& trouble : with.doings.troubles()) troubles.push_back(std::move(trouble));
  if (trouble_) {
    troubles.push_back({"networks", "they cannot be seen: " + trouble_->message(),
                        "give the agent the rights of the chart's agent-fabric-rights.yaml, or "
                        "leave --fabric-network away"});
  }
  tellings_.set("network with " + wish.peer, liqo::tenant_namespace_name(wish.peer), troubles);
  return next;
}

Networks::Side& Networks::side(const std::string& peer) {
  auto& found = sides_[peer];
  if (found) return *found;
  Doings::Calls calls;
  calls.answered = [this, peer] { changed_(peer); };
  // The key goes with its gateway.
  calls.removed = [this, peer](const fabric::Place&) { side(peer).makings.clear(); };
  calls.made = [this, peer](const fabric::Place& at) {
    if (!side(peer).makings.is_made_again(at)) return;
    tellings_.tell_once(liqo::tenant_namespace_name(peer), Makings::trouble(at));
  };
  // In place: none of its parts can be moved.
  // NOLINTNEXTLINE(modernize-make-unique)
  found = std::unique_ptr<Side>(
      new Side{Doings(api_, in_flight_, std::move(calls)),
               Sayings(api_.loop(), dealings_,
                       [this, peer](const fabric::Say&) { side(peer).owes_answer = false; })});
  return *found;
}

void Networks::owe_answer(const std::string& peer) { side(peer).owes_answer = true; }

bool Networks::is_over(const std::string& peer) const {
  const auto with = sides_.find(peer);
  const auto seen = sights_.find(peer);
  return is_known() && (with == sides_.end() || with->second->is_idle) &&
         (seen == sights_.end() || is_clear(seen->second));
}

void Networks::forget(const std::string& peer) {
  tellings_.set("network with " + peer, {}, {});
  sides_.erase(peer);
}

fabric::NetworkStep Networks::step(const std::string& peer) const {
  const auto with = sides_.find(peer);
  return with == sides_.end() ? fabric::NetworkStep::none : with->second->step;
}

const std::string& Networks::in_band(const std::string& peer) const {
  static const std::string k_none;
  const auto with = sides_.find(peer);
  return with == sides_.end() ? k_none : with->second->in_band;
}

std::map<fabric::NetworkStep, int64_t> Networks::steps() const {
  std::map<fabric::NetworkStep, int64_t> counted;
  for (const auto& [peer, with] : sides_) counted[with->step] += 1;
  return counted;
}

// A kubeconfig that goes through the network is of no use before there is one.
void Networks::hold_back(const std::string& peer, const std::string& proxy,
                         fabric::Plan& plan) const {
  const bool is_up = step(peer) == fabric::NetworkStep::connected;
  const bool is_way_known = !in_band(peer).empty() && proxy == in_band(peer);
  std::erase_if(plan.deeds, [&](const fabric::Deed& deed) {
    const bool waits_for_network = options_.mode == NetworkOptions::Mode::required && !is_up;
    if (makes(deed, liqo::k_virtual_nodes)) return waits_for_network;
    return makes(deed, liqo::k_identities) && options_.is_in_band && !(is_up && is_way_known);
  });
}

}  // namespace spillway::agent
