#include "embedded/liqo/foreign_clusters.h"

#include "embedded/document.h"
#include "fabric/liqo/foreign_cluster.h"
#include "fabric/liqo/handshake.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;

constexpr std::string_view k_checker_finalizer = "api-server-checker.liqo.io/finalizer";

struct Word {
  std::string_view status;
  std::string_view reason;
  std::string_view message;
};

// A module with the condition `type`, or with none when there is nothing to say.
void set_module_condition(Node& module, std::string_view type, const Word& word, Instant now) {
  Node wrapped = model::object_node();
  put(wrapped, "status", module);
  set_condition(
      wrapped,
      {.type = type, .status = word.status, .reason = word.reason, .message = word.message}, now);
  module = *model::look(wrapped, {"status"});
}

// The part of a status that was there before, so that times of transition stay.
Node module_before(const Node& document, std::string_view name) {
  const Node* found = model::look(document, {"status", "modules", name});
  return found == nullptr ? model::object_node() : *found;
}

// What is there of a peer.
struct PeerParts {
  bool has_tenant = false;
  bool is_tenant_ready = false;
  bool has_identity = false;
  bool is_identity_ready = false;
  int virtual_nodes = 0;
  int running = 0;
  int nodes_ready = 0;
  std::string here;  // tenant namespaces
  std::string there;
  std::string server;
};

bool is_node_ready(const Setting& setting, const std::string& name) {
  const ObjectPtr node = setting.find(codec::k_nodes, {"", name});
  return node != nullptr && node->is_ready;
}

PeerParts parts_of(const Setting& setting, const std::string& peer) {
  PeerParts parts;
  for (const ObjectPtr& object : setting.all(codec::k_tenants)) {
    if (label_of(*object, codec::k_peer_label) != peer) continue;
    const auto tenant = codec::read_tenant(object->document());
    parts.has_tenant = true;
    parts.is_tenant_ready = tenant && tenant->answer;
    if (parts.is_tenant_ready) parts.here = object->key.space;
  }
  const std::string space = codec::tenant_namespace_name(peer);
  const ObjectPtr object =
      setting.find(codec::k_identities, {space, codec::control_plane_identity_name(peer)});
  if (object != nullptr && !object->is_deleting) {
    const auto identity = codec::read_identity(object->document());
    parts.has_identity = identity.has_value();
    if (identity) {
      parts.is_identity_ready = !identity->kubeconfig_secret.empty();
      parts.here = space;
      parts.there = identity->space;
      parts.server = identity->access.api_server;
    }
  }
  for (const ObjectPtr& one : setting.all(codec::k_virtual_nodes, space)) {
    parts.virtual_nodes += 1;
    parts.running += one->is_deleting ? 0 : 1;
    parts.nodes_ready += is_node_ready(setting, one->key.name) ? 1 : 0;
  }
  return parts;
}

Node authentication_module(const Node& document, const PeerParts& parts, Instant now) {
  Node module = module_before(document, "authentication");
  // Whom it once had an identity for, Liqo goes on thinking so of.
  const bool is_on =
      parts.has_tenant || parts.has_identity || has_finalizer(document, k_checker_finalizer);
  put(module, "enabled", model::boolean_node(is_on));
  const auto drop = [&module](std::string_view type) {
    for (Node& member : module.items) {
      if (member.key != "conditions") continue;
      std::erase_if(member.items,
                    [&](const Node& one) { return model::text_at(one, {"type"}) == type; });
    }
  };
  if (!parts.has_tenant) drop(codec::k_tenant_condition);
  if (!parts.has_identity) drop(codec::k_identity_condition);
  if (parts.has_tenant) {
    set_module_condition(
        module, codec::k_tenant_condition,
        parts.is_tenant_ready
            ? Word{"Ready", "TenantReady", "The tenant has been successfully configured"}
            : Word{"NotReady", "TenantNotReady", "The tenant is not correctly configured"},
        now);
  }
  if (parts.has_identity) {
    set_module_condition(
        module, codec::k_identity_condition,
        parts.is_identity_ready
            ? Word{"Ready", "IdentityReady", "The identity has been successfully configured"}
            : Word{"NotReady", "IdentityNotReady", "The identity is not correctly configured"},
        now);
  }
  const Node* conditions = model::look(module, {"conditions"});
  if (conditions != nullptr && conditions->items.empty()) model::erase(module, "conditions");
  return module;
}

Node offloading_module(const Node& document, const PeerParts& parts, Instant now) {
  Node module = module_before(document, "offloading");
  put(module, "enabled", model::boolean_node(parts.virtual_nodes > 0));
  if (parts.virtual_nodes == 0) {
    model::erase(module, "conditions");
    return module;
  }
  const bool all_run = parts.running == parts.virtual_nodes;
  set_module_condition(
      module, codec::k_virtual_nodes_condition,
      all_run ? Word{"Ready", "VirtualNodesReady", "All virtual nodes are ready"}
              : Word{"NotReady", "VirtualNodesNotReady", "Some virtual nodes are not ready"},
      now);
  Word nodes{"Ready", "NodesReady", "All nodes are ready"};
  if (parts.nodes_ready == 0) {
    nodes = {"NotReady", "NodesNotReady", "All nodes are not ready"};
  } else if (parts.nodes_ready < parts.virtual_nodes) {
    nodes = {"SomeNotReady", "NodesSomeNotReady", "Some nodes are not ready"};
  }
  set_module_condition(module, codec::k_nodes_condition, nodes, now);
  return module;
}

std::string_view role_of(const PeerParts& parts, bool was_provider) {
  const bool is_provider = parts.has_identity || was_provider;
  if (parts.has_tenant) return is_provider ? "ConsumerAndProvider" : "Consumer";
  return is_provider ? "Provider" : "Unknown";
}

void write_status(Node& document, const PeerParts& parts, Instant now) {
  // Liqo goes on checking whom it once had an identity for.
  const bool was_provider = has_finalizer(document, k_checker_finalizer);
  if (parts.has_identity) add_finalizer(document, k_checker_finalizer);
  Node authentication = authentication_module(document, parts, now);
  Node offloading = offloading_module(document, parts, now);
  Node& status = model::ensure(document, {"status"});
  put(status, "role", text_node(role_of(parts, was_provider)));
  put(status, "observedGeneration",
      model::integer_node(model::integer_at(document, {"metadata", "generation"})));
  if (!parts.server.empty()) put(status, "apiServerUrl", text_node(parts.server));
  Node& spaces = put(status, "tenantNamespace", model::object_node());
  if (!parts.here.empty()) put(spaces, "local", text_node(parts.here));
  if (!parts.there.empty()) put(spaces, "remote", text_node(parts.there));
  Node& modules = model::ensure(status, {"modules"});
  put(modules, "authentication", std::move(authentication));
  put(modules, "offloading", std::move(offloading));
  put(model::ensure(modules, {"networking"}), "enabled", model::boolean_node(false));
}

}  // namespace

bool is_peer_given_up(const Setting& setting, const std::string& peer) {
  const ObjectPtr object = setting.find(codec::k_foreign_clusters, {"", peer});
  if (object == nullptr) return false;
  const auto foreign = codec::read_foreign_cluster(object->document());
  return foreign && !foreign->is_reachable() &&
         foreign->meta.annotation(codec::k_unreachable_annotation) == "true";
}

ForeignClusters::ForeignClusters(const Setting& setting) : Controller(setting) {
  const auto by_label = [this](const Object& object) {
    const std::string_view peer = label_of(object, codec::k_peer_label);
    if (!peer.empty() && peer != s_.id()) look_soon({"", std::string(peer)});
  };
  follow(codec::k_tenants, by_label);
  follow(codec::k_identities, by_label);
  follow(codec::k_virtual_nodes, by_label);
  follow(codec::k_nodes, by_label);
  follow(codec::k_foreign_clusters, [this](const Object& object) {
    if (object.is_deleting) look_soon(object.key);
  });
}

void ForeignClusters::look_at(const Key& key) {
  const ObjectPtr known = s_.find(codec::k_foreign_clusters, key);
  if (known != nullptr && known->is_deleting) {
    checks_[key.name].remote.reset();
    return s_.change(codec::k_foreign_clusters, key,
                     [](Node& document) { drop_finalizer(document, k_checker_finalizer); });
  }
  if (s_.find(codec::k_foreign_clusters, key) == nullptr) {
    // A node alone makes none.
    const PeerParts parts = parts_of(s_, key.name);
    if (!parts.has_tenant && !parts.has_identity && parts.virtual_nodes == 0) return;
    Node made =
        new_document({"", key.name}, {{std::string(codec::k_peer_label), key.name}}, nullptr);
    put(model::ensure(made, {"spec"}), "clusterID", text_node(key.name));
    s_.create(codec::k_foreign_clusters, std::move(made));
  }
  write(key.name);
  watch_over(key.name);
}

void ForeignClusters::write(const std::string& peer) const {
  const PeerParts parts = parts_of(s_, peer);
  s_.change(codec::k_foreign_clusters, {"", peer},
            [&](Node& document) { write_status(document, parts, s_.now()); });
}

void ForeignClusters::watch_over(const std::string& peer) {
  const Key secret{codec::tenant_namespace_name(peer),
                   codec::kubeconfig_secret_name(codec::control_plane_identity_name(peer))};
  const std::string kubeconfig = kubeconfig_in(s_, secret);
  if (kubeconfig.empty()) return;
  Checking& checking = checks_[peer];
  if (checking.remote != nullptr && checking.remote->kubeconfig() == kubeconfig) return;
  auto remote = Remote::open(s_, kubeconfig);
  if (!remote) return;
  checking.remote = std::move(*remote);
  check(peer);
}

void ForeignClusters::check(const std::string& peer) {
  Checking& checking = checks_[peer];
  if (checking.remote == nullptr) return;  // it was deleted
  checking.remote->check(lifeline_.guard([this, peer](bool is_alive) { say(peer, is_alive); }));
  if (std::exchange(checking.is_scheduled, true)) return;
  s_.loop.after(s_.options.check_every, lifeline_.guard([this, peer] {
    checks_[peer].is_scheduled = false;
    check(peer);
  }));
}

void ForeignClusters::say(const std::string& peer, bool is_alive) const {
  s_.change(codec::k_foreign_clusters, {"", peer}, [&](Node& document) {
    set_condition(document,
                  is_alive ? Condition{codec::k_api_server_condition, "Established",
                                       "APIServerReady", "The foreign cluster API Server is ready"}
                           : Condition{codec::k_api_server_condition, "Error", "APIServerNotReady",
                                       "The foreign cluster API Server is not ready"},
                  s_.now());
  });
}

}  // namespace spillway::embedded::liqo
