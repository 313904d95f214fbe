#include "support/embedded_liqos.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "base/check.h"
#include "fabric/liqo/guard.h"
#include "kube/resource.h"
#include "model/json.h"
#include "model/tree.h"
#include "pki/public_key.h"
#include "support/dialled_channel.h"
#include "support/memory_exchange.h"

namespace spillway::test {
namespace {

using fabric::Place;
using model::Node;
using model::text_at;
namespace codec = fabric::liqo;

std::string path_of_place(const codec::Kind& kind, const std::string& space,
                          const std::string& name, std::string_view subresource = {}) {
  const kube::Resource resource{std::string(kind.group), std::string(kind.version),
                                std::string(kind.plural), kind.is_namespaced};
  return kube::path_of(resource, {space, name}, subresource);
}

std::string host_of(const std::string& id) { return id + ".test"; }

}  // namespace

EmbeddedLiqos::EmbeddedLiqos(std::string buyer_name, std::string seller_name, bool checks_record)
    : buyer_id(std::move(buyer_name)), seller_id(std::move(seller_name)) {
  buyer = make(buyer_id, checks_record);
  seller = make(seller_id, checks_record);
  loop.run();
}

std::unique_ptr<embedded::Cluster> EmbeddedLiqos::make(const std::string& id, bool checks_record) {
  embedded::ClusterOptions options;
  options.name = id;
  options.nodes = 1;
  options.trusts_strangers = true;
  embedded::LiqoOptions liqo;
  liqo.api_server = fmt::format("https://{}:6443", host_of(id));
  liqo.checks_record = checks_record;
  liqo.dial = [this](const kube::Access& access) { return dial(access); };
  options.liqo = std::move(liqo);
  auto made = std::make_unique<embedded::Cluster>(loop, random, std::move(options));
  made->on_cut([](const std::string&, const std::shared_ptr<net::Exchange>&) {});
  return made;
}

Result<std::unique_ptr<net::Channel>> EmbeddedLiqos::dial(const kube::Access& access) {
  const net::Peer peer = peer_with(access.identity->certificate_chain_pem);
  const auto find = [this, host = access.server.host, trusted = access.authorities_pem] {
    embedded::Cluster* found = at(host);
    return found != nullptr && found->authority_pem() == trusted ? found : nullptr;
  };
  return std::make_unique<DialledChannel>(loop, find, peer);
}

void EmbeddedLiqos::purge(embedded::Cluster& cluster, const codec::Kind& kind) {
  for (const Node& object : list(cluster, kind)) {
    const Place at{kind, std::string(text_at(object, {"metadata", "namespace"})),
                   std::string(text_at(object, {"metadata", "name"}))};
    carry_out(cluster, fabric::Remove{at, {}});
    Node free = model::object_node();
    model::put(model::ensure(free, {"metadata"}), "finalizers", Node{});
    carry_out(cluster, fabric::Merge{at, free});
  }
}

void EmbeddedLiqos::replace_key(embedded::Cluster& cluster) {
  const pki::Key key = pki::Key::generate_member();
  Node patch = model::object_node();
  Node& data = model::ensure(patch, {"data"});
  model::put(data, "privateKey", model::text_node(to_base64(key.to_pem().view())));
  model::put(data, "publicKey", model::text_node(to_base64(pki::to_pem(key.public_key()))));
  const Place keys{codec::k_secrets, std::string(codec::k_namespace),
                   std::string(codec::k_keys_secret)};
  SPILLWAY_CHECK(carry_out(cluster, fabric::Merge{keys, patch}), "Liqo's key cannot be replaced");
}

void EmbeddedLiqos::reinstall_seller() {
  seller->restart(seconds(1));  // ends all streams
  loop.run();
  seller = make(seller_id, true);
  loop.run();
}

embedded::Cluster* EmbeddedLiqos::at(const std::string& host) {
  if (host == host_of(buyer_id)) return buyer.get();
  return host == host_of(seller_id) && !is_seller_dead ? seller.get() : nullptr;
}

EmbeddedLiqos::Answer EmbeddedLiqos::ask(embedded::Cluster& cluster, std::string method,
                                         std::string target, std::string body, std::string type) {
  net::Request request{std::move(method), std::move(target), {}, std::move(body)};
  if (!request.body.empty()) request.headers.push_back({"Content-Type", std::move(type)});
  const auto exchange = std::make_shared<MemoryExchange>();
  cluster.handler().handle(std::move(request), {"test:1", nullptr}, exchange);
  if (!exchange->response) return {};
  Answer answer{exchange->response->status, {}};
  auto parsed = model::parse_json(exchange->response->body, "answer", size_t{64} << 20, 128);
  if (parsed) answer.body = std::move(*parsed);
  return answer;
}

std::vector<Node> EmbeddedLiqos::list(embedded::Cluster& cluster, const codec::Kind& kind,
                                      const std::string& space) {
  return model::items_at(ask(cluster, "GET", path_of_place(kind, space, {})).body, {"items"});
}

bool EmbeddedLiqos::is_up(embedded::Cluster& cluster) {
  return ask(cluster, "GET", "/livez").status == 200;
}

Node EmbeddedLiqos::get(embedded::Cluster& cluster, const Place& at) {
  Answer answer = ask(cluster, "GET", path_of_place(at.kind, at.space, at.name));
  return answer.status == 200 ? std::move(answer.body) : Node{};
}

bool EmbeddedLiqos::carry_out(embedded::Cluster& cluster, const fabric::Deed& deed) {
  Answer answer;
  if (const auto* one = std::get_if<fabric::Create>(&deed)) {
    answer = ask(cluster, "POST", path_of_place(one->at.kind, one->at.space, {}),
                 model::to_json(one->object));
  } else if (const auto* merge = std::get_if<fabric::Merge>(&deed)) {
    const Place& at = merge->at;
    answer = ask(cluster, "PATCH",
                 path_of_place(at.kind, at.space, at.name, merge->of_status ? "status" : ""),
                 model::to_json(merge->patch), "application/merge-patch+json");
  } else if (const auto* remove = std::get_if<fabric::Remove>(&deed)) {
    const Place& at = remove->at;
    const std::string body =
        remove->uid.empty() ? std::string()
                            : fmt::format(R"({{"preconditions":{{"uid":"{}"}}}})", remove->uid);
    const std::string how = remove->is_forced ? "?gracePeriodSeconds=0" : "";
    answer = ask(cluster, "DELETE", path_of_place(at.kind, at.space, at.name) + how, body);
  } else if (const auto* evict = std::get_if<fabric::Evict>(&deed)) {
    answer =
        ask(cluster, "POST", path_of_place(codec::k_pods, evict->space, evict->pod, "eviction"),
            fmt::format(R"({{"metadata":{{"name":"{}","namespace":"{}"}}}})", evict->pod,
                        evict->space));
  }
  return answer.status / 100 == 2;
}

fabric::SellerSight EmbeddedLiqos::seller_sight() {
  const std::string space = codec::tenant_namespace_name(buyer_id);
  fabric::SellerSight sight;
  const auto find = [&](const codec::Kind& kind, std::string_view name) {
    return get(*seller, {kind, space, std::string(name)});
  };
  const Node tenants = get(*seller, {codec::k_namespaces, {}, space});
  sight.has_space = tenants.kind == Node::Kind::object;
  sight.provider = text_at(tenants, {"metadata", "annotations", codec::k_provider_annotation});
  if (const Node nonce = find(codec::k_secrets, codec::k_nonce_secret); !nonce.items.empty()) {
    sight.nonce = codec::read_nonce(nonce).value();
  }
  if (const Node tenant = find(codec::k_tenants, buyer_id); !tenant.items.empty()) {
    sight.tenant = codec::read_tenant(tenant).value();
  }
  if (const Node record = find(codec::k_config_maps, fabric::k_record_name);
      !record.items.empty()) {
    sight.record = fabric::read_record(record).value();
  }
  for (const Node& object : list(*seller, codec::k_slices, space)) {
    const auto slice = codec::read_slice(object).value();
    sight.slices.emplace(slice.meta.name, slice);
  }
  for (const Node& object : list(*seller, codec::k_shadow_pods)) {
    sight.guests[fabric::see_guest(object).creator].push_back(
        {codec::k_shadow_pods, std::string(text_at(object, {"metadata", "namespace"})),
         std::string(text_at(object, {"metadata", "name"}))});
  }
  const std::string_view fence = fabric::k_fence_name;
  if (const Node lease = find(codec::k_leases, fence); !lease.items.empty()) {
    sight.fence.lease = fabric::read_buyer_lease(lease).value();
    if (is_buyer_heard) sight.fence.lease->renewed = sight.fence.seen = loop.now();
  }
  if (const Node role = find(codec::k_roles, fence); !role.items.empty()) {
    sight.fence.role = fabric::judge_fence_role(role);
  }
  if (const Node binding = find(codec::k_role_bindings, fence); !binding.items.empty()) {
    sight.fence.binding = fabric::judge_fence_binding(binding, buyer_id);
  }
  const std::string copy = codec::control_plane_identity_name(seller_id);
  if (!find(codec::k_renews, copy).items.empty()) sight.renews = {copy};
  sight.has_certificate = !find(codec::k_secrets, codec::k_certificate_secret).items.empty();
  const std::string prefix = codec::certificate_secret_name("");
  for (const Node& secret : list(*seller, codec::k_secrets, space)) {
    const std::string name(text_at(secret, {"metadata", "name"}));
    if (name.starts_with(prefix)) sight.certificates.push_back(name.substr(prefix.size()));
  }
  return sight;
}

fabric::BuyerSight EmbeddedLiqos::buyer_sight() {
  const std::string space = codec::tenant_namespace_name(seller_id);
  fabric::BuyerSight sight;
  sight.has_space = get(*buyer, {codec::k_namespaces, {}, space}).kind == Node::Kind::object;
  const Node identity =
      get(*buyer, {codec::k_identities, space, codec::control_plane_identity_name(seller_id)});
  if (!identity.items.empty()) sight.identity = codec::read_identity(identity).value();
  for (const Node& object : list(*buyer, codec::k_slices, space)) {
    const auto slice = codec::read_slice(object).value();
    const std::string secret =
        codec::kubeconfig_secret_name(codec::slice_identity_name(slice.meta.name));
    fabric::BoughtSight& unit = sight.units[slice.meta.name];
    unit.has_access = !get(*buyer, {codec::k_secrets, space, secret}).items.empty();
    unit.slice = slice;
  }
  for (const Node& object : list(*buyer, codec::k_virtual_nodes, space)) {
    const auto node = codec::read_virtual_node(object).value();
    sight.units[node.meta.name].virtual_node = node;
  }
  for (const Node& object : list(*buyer, codec::k_nodes)) {
    if (text_at(object, {"metadata", "labels", codec::k_node_type_label}).empty()) continue;
    sight.units[std::string(text_at(object, {"metadata", "name"}))].node = fabric::see_node(object);
  }
  for (const Node& pod : list(*buyer, codec::k_pods)) {
    const auto unit = sight.units.find(std::string(text_at(pod, {"spec", "nodeName"})));
    if (unit == sight.units.end()) continue;
    auto seen = fabric::see_pod(pod);
    if (!seen) continue;
    seen->grace = {};  // these end at once
    unit->second.pods.push_back(std::move(*seen));
  }
  const Node foreign = get(*buyer, {codec::k_foreign_clusters, {}, seller_id});
  if (!foreign.items.empty()) sight.foreign = codec::read_foreign_cluster(foreign).value();
  // While the other side is there, its own time takes care of it.
  const std::string own = codec::control_plane_identity_name(seller_id);
  const Node renew = get(*buyer, {codec::k_renews, space, own});
  if (!renew.items.empty()) sight.renew = codec::read_remnant(renew, codec::k_renews).value();
  const Node access = get(*buyer, {codec::k_secrets, space, codec::kubeconfig_secret_name(own)});
  if (!access.items.empty()) sight.access = codec::read_remnant(access, codec::k_secrets).value();
  const Node map = get(*buyer, {codec::k_namespace_maps, space, seller_id});
  if (is_seller_dead && !map.items.empty()) {
    sight.map = codec::read_remnant(map, codec::k_namespace_maps).value();
  }
  for (const Node& lease : list(*buyer, codec::k_leases, space)) {
    const std::string name(text_at(lease, {"metadata", "name"}));
    if (name != "virtual-kubelet-leader-election") sight.units[name].has_lease = true;
  }
  return sight;
}

}  // namespace spillway::test
