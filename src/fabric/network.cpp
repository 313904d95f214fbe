#include "fabric/network.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "base/check.h"
#include "base/text.h"
#include "fabric/cidr.h"
#include "fabric/spaces.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

// Far above what Liqo has: a cluster has one range of pods, or a few, and one external.
constexpr size_t k_most_ranges = 8;
constexpr size_t k_most_addresses = 4;
constexpr size_t k_key_bytes = 32;
constexpr int k_longest_prefix = 30;  // room for anything at all
constexpr size_t k_longest_host = 253;

bool is_ours(const liqo::Meta& meta) { return meta.label(k_owner_label) == k_owner_fabric; }

template <class T>
bool is_mine(const std::optional<T>& object) {
  return object && is_ours(object->meta);
}

struct Connecting {
  const NetworkWish& wish;
  const NetworkSight& sight;
  std::string space = liqo::tenant_namespace_name(wish.peer);
  NetworkPlan made = {};

  Place at(const liqo::Kind& kind) const { return {kind, space, wish.peer}; }
  template <class T>
  void create(T object) {
    object.meta.labels.emplace(k_owner_label, k_owner_fabric);
    made.plan.deeds.emplace_back(Create{at(T::k_kind), to_object(object)});
  }
  void merge(const liqo::Kind& kind, model::Node patch) {
    made.plan.deeds.emplace_back(Merge{at(kind), std::move(patch)});
  }
  // Of ours, so that an edit is told from what is wanted anew.
  template <class T>
  void keep(const T& wanted, const liqo::Meta& seen, bool is_right) {
    if (!is_ours(seen)) return;
    const std::string text = model::to_json(to_object(wanted));
    made.plan.kept.push_back({at(T::k_kind), std::hash<std::string>{}(text), is_right});
  }
  // True: it is there, or was, and goes.
  template <class T>
  bool remove(const std::optional<T>& object) {
    if (!is_mine(object)) return false;
    if (object->meta.deleted.empty()) {
      made.plan.deeds.emplace_back(Remove{at(T::k_kind), object->meta.uid});
    }
    return true;
  }
  void tell(std::string reason, std::string next) {
    made.plan.troubles.push_back({"network with " + wish.peer, std::move(reason), std::move(next)});
  }
};

const NetworkWord* peer_word(const NetworkWish& wish) {
  return wish.heard ? &wish.heard->own : nullptr;
}

// Both sides find the same, once each has heard the other.
bool serves(const NetworkWish& wish, const NetworkWord& peer) {
  const bool is_both = wish.is_buying && wish.is_selling;
  const bool is_first = is_both ? wish.self < wish.peer : wish.is_selling;
  if (wish.can_serve == peer.can_serve) return is_first;
  return wish.can_serve;
}

// ---- talk ----------------------------------------------------------------------------------

NetworkWord own_word(const NetworkWish& wish, const NetworkSight& sight) {
  NetworkWord word{wish.ranges, wish.can_serve};
  if (sight.server && sight.server->meta.deleted.empty() && sight.server->endpoint) {
    word.addresses = sight.server->endpoint->addresses;
    word.port = sight.server->endpoint->port;
  }
  const bool has_gateway = sight.server || sight.client;
  if (has_gateway && !sight.own_key.empty()) word.key = to_base64(sight.own_key);
  word.proxy = wish.proxy;
  word.in_band = in_band_url(wish, sight);
  return word;
}

void say(Connecting& c) {
  if (!c.wish.contract || c.wish.ranges.pods.empty() || c.wish.ranges.external.empty()) return;
  NetworkTalk talk{own_word(c.wish, c.sight)};
  if (const NetworkWord* peer = peer_word(c.wish)) talk.heard = *peer;
  talk.is_asking = !c.wish.heard || c.wish.heard->heard != talk.own;
  if (!talk.is_asking && !c.wish.owes_answer) return;
  c.made.plan.deeds.emplace_back(Say{*c.wish.contract, std::string(k_network_step), to_body(talk)});
}

// ---- objects -------------------------------------------------------------------------------

// True: the peer's ranges are known here.
bool configure(Connecting& c, const NetworkWord& peer) {
  const auto& seen = c.sight.configuration;
  if (!seen) {
    c.create(liqo::new_configuration(c.wish.peer, peer.ranges));
    return false;
  }
  if (!seen->meta.deleted.empty()) return false;
  c.keep(liqo::new_configuration(c.wish.peer, peer.ranges), seen->meta, seen->peer == peer.ranges);
  if (seen->peer != peer.ranges) {
    if (is_ours(seen->meta)) {
      c.merge(liqo::k_configurations, liqo::configuration_patch(peer.ranges));
    } else {
      c.tell("its Configuration was made by hand, and has other ranges than that cluster tells",
             "set them right, or delete it");
    }
    return false;
  }
  return seen->is_settled();
}

// Its gateway; none: it is on its way, or goes.
std::optional<liqo::Owner> open_server(Connecting& c) {
  if (c.remove(c.sight.client)) return std::nullopt;
  const auto& seen = c.sight.server;
  if (!seen) {
    c.create(liqo::new_gateway_server(c.wish.peer, c.wish.serving));
    return std::nullopt;
  }
  if (!seen->meta.deleted.empty()) return std::nullopt;
  const bool is_as_wanted =
      seen->port == c.wish.serving.port && seen->service_type == c.wish.serving.service_type;
  c.keep(liqo::new_gateway_server(c.wish.peer, c.wish.serving), seen->meta, is_as_wanted);
  if (is_ours(seen->meta) && !is_as_wanted) {
    c.remove(seen);  // Liqo makes nothing of a change
    return std::nullopt;
  }
  return liqo::Owner{api_version(liqo::k_gateway_servers),
                     std::string(liqo::k_gateway_servers.kind), seen->meta.name, seen->meta.uid};
}

std::optional<liqo::Owner> open_client(Connecting& c, const NetworkWord& peer) {
  if (c.remove(c.sight.server)) return std::nullopt;
  const auto& seen = c.sight.client;
  const liqo::Endpoint endpoint{peer.addresses, peer.port, "UDP"};
  if (!seen) {
    if (!peer.addresses.empty()) c.create(liqo::new_gateway_client(c.wish.peer, endpoint));
    return std::nullopt;
  }
  if (!seen->meta.deleted.empty()) return std::nullopt;
  const bool is_moved = !peer.addresses.empty() && seen->endpoint != endpoint;
  c.keep(liqo::new_gateway_client(c.wish.peer, endpoint), seen->meta, !is_moved);
  if (is_ours(seen->meta) && is_moved) {
    c.merge(liqo::k_gateway_clients, liqo::endpoint_patch(endpoint));
  }
  return liqo::Owner{api_version(liqo::k_gateway_clients),
                     std::string(liqo::k_gateway_clients.kind), seen->meta.name, seen->meta.uid};
}

bool is_owned_by(const liqo::PublicKey& key, const liqo::Owner& gateway) {
  return std::any_of(key.meta.owners.begin(), key.meta.owners.end(),
                     [&](const liqo::Owner& one) { return one.uid == gateway.uid; });
}

// True: the gateway knows the other's key.
bool give_key(Connecting& c, const NetworkWord& peer, const liqo::Owner& gateway) {
  const auto& seen = c.sight.peer_key;
  const auto key = from_base64(peer.key);
  if (peer.key.empty() || !key) return seen && !is_ours(seen->meta);
  if (!seen) {
    c.create(liqo::new_public_key(c.wish.peer, *key, gateway));
    return false;
  }
  if (!is_ours(seen->meta)) return true;
  const bool is_right = seen->key == *key && is_owned_by(*seen, gateway);
  c.keep(liqo::new_public_key(c.wish.peer, *key, gateway), seen->meta, is_right);
  if (!is_right) {  // one of an earlier gateway goes with it
    c.remove(c.sight.peer_key);
    return false;
  }
  return seen->meta.deleted.empty();
}

void connect(Connecting& c) {
  c.made.step = NetworkStep::asked;
  if (!c.sight.has_space) return;
  say(c);
  const NetworkWord* peer = peer_word(c.wish);
  if (peer == nullptr) return;
  c.made.step = NetworkStep::configured;
  if (!configure(c, *peer)) return;
  const auto gateway = serves(c.wish, *peer) ? open_server(c) : open_client(c, *peer);
  if (!gateway) return;
  c.made.step = NetworkStep::opened;
  if (!give_key(c, *peer, *gateway)) return;
  const bool is_up = c.sight.connection && c.sight.connection->is_up();
  c.made.step = is_up ? NetworkStep::connected : NetworkStep::keyed;
}

// Gateways first, as Liqo does: they use what the Configuration says.
void disconnect(Connecting& c) {
  c.remove(c.sight.peer_key);
  const bool has_server = c.remove(c.sight.server);
  const bool has_client = c.remove(c.sight.client);
  if (!has_server && !has_client) c.remove(c.sight.configuration);
}

// ---- hostile words -------------------------------------------------------------------------

Status refuse(std::string reason) {
  return fail(Code::denied, "network", std::move(reason), "say what Liqo has in its Networks");
}

Status check_ranges(const liqo::Ranges& ranges) {
  std::vector<Cidr> all;
  for (const auto* list : {&ranges.pods, &ranges.external}) {
    if (list->empty() || list->size() > k_most_ranges) {
      return refuse(fmt::format("{} ranges of a kind", list->size()));
    }
    for (const std::string& text : *list) {
      const auto range = parse_cidr(text);
      const bool is_one = range && range->prefix <= k_longest_prefix && is_private(*range);
      if (!is_one) return refuse(in_quotes(text) + " is no private range");
      const bool is_again = std::any_of(all.begin(), all.end(),
                                        [&](const Cidr& one) { return one.overlaps(*range); });
      if (is_again) return refuse(in_quotes(text) + " is in another of its ranges");
      all.push_back(*range);
    }
  }
  return {};
}

bool is_host_name(std::string_view text) {
  const bool is_plain = !text.empty() && text.size() <= k_longest_host && text.front() != '-' &&
                        text.front() != '.' && std::all_of(text.begin(), text.end(), [](char c) {
                          return is_lower_or_digit(c) || c == '-' || c == '.';
                        });
  // A name that is all numbers is an address in another spelling.
  const std::string_view last = text.substr(text.rfind('.') + 1);
  return is_plain && !last.empty() && !std::all_of(last.begin(), last.end(), is_digit) &&
         text != "localhost" && !text.ends_with(".localhost");
}

Status check_gateway(const NetworkWord& word) {
  if (word.addresses.empty() && word.port == 0) return {};
  const bool is_few = !word.addresses.empty() && word.addresses.size() <= k_most_addresses;
  if (!is_few || word.port < 1 || word.port > 65535) {
    return refuse(
        fmt::format("{} addresses and port {} are no gateway", word.addresses.size(), word.port));
  }
  for (const std::string& text : word.addresses) {
    const auto address = parse_address(text);
    if (address ? is_reachable(*address) : is_host_name(text)) continue;
    return refuse(in_quotes(text) + " is nowhere that a gateway can be");
  }
  return {};
}

Status check_proxy(const NetworkWord& word) {
  if (word.proxy.empty()) return {};
  const auto address = parse_address(word.proxy);
  const bool is_inside =
      address && std::any_of(word.ranges.external.begin(), word.ranges.external.end(),
                             [&](const std::string& text) {
                               const auto range = parse_cidr(text);
                               return range && range->contains(*address);
                             });
  if (is_inside) return {};
  return refuse(in_quotes(word.proxy) + " is no address of its external ranges");
}

// It becomes a part of the other's kubeconfigs, and nothing of ours: but it is a URL of a proxy.
Status check_in_band(const std::string& url) {
  if (url.empty()) return {};
  std::string_view host = url;
  const std::string port = fmt::format(":{}", liqo::k_proxy_port);
  const bool is_http = host.starts_with("http://") && host.ends_with(port);
  if (is_http) {
    host.remove_prefix(std::string_view("http://").size());
    host.remove_suffix(port.size());
  }
  const auto address = is_http ? parse_address(host) : std::nullopt;
  if (address && is_reachable(*address)) return {};
  return refuse(in_quotes(url) + " is no proxy of Liqo's");
}

Status check_word(const NetworkWord& word) {
  SPILLWAY_TRY(check_ranges(word.ranges));
  SPILLWAY_TRY(check_gateway(word));
  const auto key = from_base64(word.key);
  if (!key || (!key->empty() && key->size() != k_key_bytes)) {
    return refuse("its key is none of WireGuard's");
  }
  SPILLWAY_TRY(check_proxy(word));
  return check_in_band(word.in_band);
}

}  // namespace

bool is_clear(const NetworkSight& sight) {
  return !is_mine(sight.configuration) && !is_mine(sight.server) && !is_mine(sight.client) &&
         !is_mine(sight.peer_key);
}

std::string_view to_text(NetworkStep step) {
  switch (step) {
    case NetworkStep::none:
      return "none";
    case NetworkStep::asked:
      return "asked";
    case NetworkStep::configured:
      return "configured";
    case NetworkStep::opened:
      return "opened";
    case NetworkStep::keyed:
      return "keyed";
    case NetworkStep::connected:
      return "connected";
  }
  SPILLWAY_CHECK(false, "a step without a word");
}

NetworkPlan plan_network(const NetworkWish& wish, const NetworkSight& sight, Instant) {
  Connecting c{wish, sight};
  if (wish.is_wanted) {
    connect(c);
  } else if (!wish.is_kept) {
    disconnect(c);
  }
  return std::move(c.made);
}

// Liqo gives the peer's ranges others here where they are taken; an address keeps its place in
// them.
std::string in_band_url(const NetworkWish& wish, const NetworkSight& sight) {
  const NetworkWord* peer = peer_word(wish);
  const bool is_asked = wish.is_in_band && wish.is_buying && peer != nullptr;
  if (!is_asked || !sight.configuration || !sight.configuration->is_settled()) return {};
  const auto address = parse_address(peer->proxy);
  const liqo::Configuration& known = *sight.configuration;
  for (size_t i = 0; address && i < known.peer.external.size(); ++i) {
    const auto from = parse_cidr(known.peer.external[i]);
    const auto to = parse_cidr(known.peer_here.external[i]);
    const auto here = from && to ? remap(*address, *from, *to) : std::nullopt;
    if (here) return fmt::format("http://{}:{}", address_to_text(*here), liqo::k_proxy_port);
  }
  return {};
}

Status check_network(const NetworkTalk& talk) {
  SPILLWAY_TRY(check_word(talk.own));
  return talk.heard ? check_word(*talk.heard) : Status{};
}

}  // namespace spillway::fabric
