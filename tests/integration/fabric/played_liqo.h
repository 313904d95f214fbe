// Two embedded clusters in which Liqo's work is done by hand, by the API server, as real Liqo was
// recorded to do it (tests/data/liqo): milan sells to rome. The provider's API server refuses
// slices that are not in its record, as the admission policies do.
#pragma once

#include <string>
#include <vector>

#include "base/base64.h"
#include "fabric/liqo/names.h"
#include "pki/authority.h"
#include "pki/ed25519.h"
#include "pki/public_key.h"
#include "support/embedded_world.h"

namespace spillway::test {

namespace liqo = fabric::liqo;

// One of the two clusters, on a loop that both share.
class Place {
 public:
  Place(ManualLoop& loop, std::string id)
      : name(std::move(id)), cluster(loop, random, options_of(name)), loop_(loop) {
    for (const liqo::Kind& kind :
         {liqo::k_tenants, liqo::k_identities, liqo::k_renews, liqo::k_slices,
          liqo::k_virtual_nodes, liqo::k_shadow_pods, liqo::k_shadow_slices, liqo::k_namespace_maps,
          liqo::k_foreign_clusters, liqo::k_namespace_offloadings, liqo::k_vk_templates,
          liqo::k_configurations, liqo::k_gateway_servers, liqo::k_gateway_clients,
          liqo::k_public_keys, liqo::k_connections, liqo::k_networks, liqo::k_addresses}) {
      define(kind);
    }
    create("/api/v1/namespaces", R"({"metadata":{"name":"liqo"}})");
    create("/api/v1/namespaces/liqo/configmaps",
           fmt::format(R"({{"metadata":{{"name":"liqo-clusterid-configmap"}},)"
                       R"("data":{{"CLUSTER_ID":"{}"}}}})",
                       name));
    create(
        "/api/v1/namespaces/liqo/secrets",
        fmt::format(
            R"({{"metadata":{{"name":"authentication-keys"}},"data":{{"privateKey":"{}","publicKey":"{}"}}}})",
            to_base64(key.to_pem().view()), to_base64(to_pem(key.public_key()))));
    add_default_template();
  }

  // As Liqo's chart has it.
  void add_default_template() {
    create(
        path(liqo::k_vk_templates, "liqo"),
        R"({"apiVersion":"offloading.liqo.io/v1beta1","kind":"VkOptionsTemplate",)"
        R"("metadata":{"name":"virtual-kubelet-default"},"spec":{"createNode":true,)"
        R"("disableNetworkCheck":true,"containerImage":"virtual-kubelet:v1.2.0",)"
        R"("metricsEnabled":false,"replicas":1,"reflectorsConfig":{"pod":{"workers":10},)"
        R"("secret":{"workers":3,"type":"DenyList"},"configmap":{"workers":3,"type":"DenyList"},)"
        R"("service":{"workers":3,"type":"DenyList"},"ingress":{"workers":3,"type":"DenyList"}},)"
        R"("extraArgs":["--enable-apiserver-support=true"]}})");
  }

  Told ask(std::string method, std::string target, std::string body = {},
           const char* type = "application/json") {
    net::Request request{std::move(method), std::move(target), {}, std::move(body)};
    if (!request.body.empty()) request.headers.push_back({"Content-Type", type});
    auto exchange = std::make_shared<MemoryExchange>();
    cluster.handler().handle(std::move(request), {"test:1", nullptr}, exchange);
    for (int i = 0; i < 100 && !exchange->response; ++i) loop_.run_for(milliseconds(1));
    if (!exchange->response) return {};
    net::Response answer = *exchange->response;
    if (exchange->body) answer.body = exchange->body->bytes;
    return EmbeddedWorld::told(answer);
  }
  Told create(const std::string& target, const std::string& body) {
    return ask("POST", target, body);
  }
  Told merge(const std::string& target, const std::string& body) {
    return ask("PATCH", target, body, "application/merge-patch+json");
  }
  Told remove(const std::string& target) { return ask("DELETE", target); }
  bool has(const std::string& target) { return ask("GET", target).status == 200; }
  std::vector<model::Node> all(const liqo::Kind& kind) {
    return model::items_at(ask("GET", path(kind)).body, {"items"});
  }
  static std::string path(const liqo::Kind& kind, std::string_view space = {},
                          std::string_view name = {}) {
    std::string made = kind.group.empty() ? fmt::format("/api/{}", kind.version)
                                          : fmt::format("/apis/{}/{}", kind.group, kind.version);
    if (!space.empty()) made += fmt::format("/namespaces/{}", space);
    made += fmt::format("/{}", kind.plural);
    if (!name.empty()) made += fmt::format("/{}", name);
    return made;
  }
  static std::string path_of(const liqo::Kind& kind, const model::Node& object) {
    return path(kind, model::text_at(object, {"metadata", "namespace"}),
                model::text_at(object, {"metadata", "name"}));
  }

  std::string name;
  host::SeededRandom random{3};
  pki::Key key = pki::Key::generate_member();
  embedded::Cluster cluster;

 private:
  static embedded::ClusterOptions options_of(const std::string& name) {
    auto options = EmbeddedWorld::open_to_all();
    options.name = name;
    return options;
  }
  void define(const liqo::Kind& kind) {
    std::string singular(kind.kind);
    for (char& c : singular) c = static_cast<char>(std::tolower(c));
    const Told made = create(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        fmt::format(
            R"({{"metadata":{{"name":"{0}.{1}"}},"spec":{{"group":"{1}","scope":"{2}","names":{{"plural":"{0}","singular":"{3}","kind":"{4}"}},"versions":[{{"name":"{5}","served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}},"subresources":{{"status":{{}}}}}}]}}}})",
            kind.plural, kind.group, kind.is_namespaced ? "Namespaced" : "Cluster", singular,
            kind.kind, kind.version));
    EXPECT_EQ(made.status, 201) << model::to_json(made.body);
    loop_.run_for(milliseconds(200));
  }

  ManualLoop& loop_;
};

class PlayedLiqo {
 public:
  explicit PlayedLiqo(ManualLoop& loop) : rome(loop, "rome"), milan(loop, "milan") {}

  Place rome;   // buys
  Place milan;  // sells
  bool is_replicating = true;
  std::string proxy = {};  // of what it says to its buyer
  int nonces = 0;

  void work() {
    fill_nonces();
    answer_tenants();
    sign_slices();
    if (is_replicating) replicate();
    make_kubeconfigs();
    run_virtual_nodes();
  }
  // A guest of that unit, at the provider, as its virtual kubelet makes them.
  void add_guest(const std::string& unit_user, const std::string& name) {
    milan.create(
        "/api/v1/namespaces",
        R"({"metadata":{"name":"work-rome","labels":{"liqo.io/remote-cluster-id":"rome"}}})");
    milan.create(
        Place::path(liqo::k_shadow_pods, "work-rome"),
        fmt::format(R"({{"apiVersion":"offloading.liqo.io/v1beta1","kind":"ShadowPod",)"
                    R"("metadata":{{"name":"{}","labels":{{"liqo.io/creator-user":"{}"}}}}}})",
                    name, unit_user));
  }

 private:
  static constexpr const char* k_at_buyer = "liqo-tenant-milan";
  static constexpr const char* k_at_seller = "liqo-tenant-rome";

  std::string access() const {
    return fmt::format(R"({{"ca":"{0}","signedCRT":"{0}","apiServer":"https://milan:6443"{1}}})",
                       to_base64(authority_.certificate_pem()),
                       proxy.empty() ? std::string() : fmt::format(R"(,"proxyURL":"{}")", proxy));
  }
  static bool has_condition(const model::Node& object, std::string_view type) {
    for (const model::Node& one : model::items_at(object, {"status", "conditions"})) {
      if (model::text_at(one, {"type"}) == type) return true;
    }
    return false;
  }
  static bool is_deleted(const model::Node& object) {
    return !model::text_at(object, {"metadata", "deletionTimestamp"}).empty();
  }
  static std::string name_of(const model::Node& object) {
    return std::string(model::text_at(object, {"metadata", "name"}));
  }

  void fill_nonces() {
    const std::string at = Place::path(liqo::k_secrets, k_at_seller, "liqo-nonce");
    const Told nonce = milan.ask("GET", at);
    if (nonce.status != 200 || !nonce.text({"data", "nonce"}).empty()) return;
    milan.merge(at, fmt::format(R"({{"data":{{"nonce":"{}"}}}})",
                                to_base64(fmt::format("nonce-{}", ++nonces))));
  }
  void answer_tenants() {
    const Told nonce = milan.ask("GET", Place::path(liqo::k_secrets, k_at_seller, "liqo-nonce"));
    for (const model::Node& tenant : milan.all(liqo::k_tenants)) {
      if (model::look(tenant, {"status", "authParams"}) != nullptr) continue;
      const auto key =
          pki::read_public_key(*from_base64(model::text_at(tenant, {"spec", "publicKey"})));
      if (!key || nonce.status != 200) continue;
      const auto text = *from_base64(nonce.text({"data", "nonce"}));
      const auto signature = *from_base64(model::text_at(tenant, {"spec", "signature"}));
      if (!pki::verify_message(*key, text, signature)) continue;
      milan.merge(Place::path_of(liqo::k_tenants, tenant) + "/status",
                  fmt::format(R"({{"status":{{"authParams":{},"tenantNamespace":"{}"}}}})",
                              access(), k_at_seller));
    }
  }
  void sign_slices() {
    for (const model::Node& slice : milan.all(liqo::k_slices)) {
      if (has_condition(slice, "Authentication")) continue;
      milan.merge(
          Place::path_of(liqo::k_slices, slice) + "/status",
          fmt::format(
              R"({{"status":{{"authParams":{},"conditions":[{{"type":"Authentication","status":"Accepted"}}]}}}})",
              access()));
      milan.create(Place::path(liqo::k_secrets, k_at_seller),
                   fmt::format(R"({{"metadata":{{"name":"{}","labels":)"
                               R"({{"liqo.io/remote-cluster-id":"rome"}}}}}})",
                               liqo::certificate_secret_name(name_of(slice))));
    }
  }
  bool may_exist(const model::Node& slice) {
    const Told record =
        milan.ask("GET", Place::path(liqo::k_config_maps, k_at_seller, "spillway-units"));
    return record.status == 200 &&
           record.text({"data", name_of(slice)}) == model::text_at(slice, {"spec", "csr"});
  }
  void replicate() {
    const bool is_peered =
        rome.has(Place::path(liqo::k_identities, k_at_buyer, "controlplane-milan")) &&
        milan.has(Place::path(liqo::k_tenants, k_at_seller, "rome"));
    if (!is_peered) return;
    for (const model::Node& slice : rome.all(liqo::k_slices)) replicate_one(slice);
  }
  void replicate_one(const model::Node& slice) {
    const std::string here = Place::path_of(liqo::k_slices, slice);
    const std::string there = Place::path(liqo::k_slices, k_at_seller, name_of(slice));
    const Told copy = milan.ask("GET", there);
    if (is_deleted(slice)) {
      if (copy.status == 200) milan.remove(there);
      rome.remove(
          Place::path(liqo::k_secrets, k_at_buyer, "kubeconfig-resourceslice-" + name_of(slice)));
      rome.merge(here, R"({"metadata":{"finalizers":null}})");
      return;
    }
    if (copy.status != 200) {
      if (!may_exist(slice)) return;
      if (model::items_at(slice, {"metadata", "finalizers"}).empty()) {
        rome.merge(here, R"({"metadata":{"finalizers":["crdreplicator.liqo.io/resource"]}})");
      }
      model::Node made = slice;
      model::erase(made, "status");
      model::Node& meta = model::put(made, "metadata", model::object_node());
      model::put(meta, "name", model::text_node(name_of(slice)));
      model::Node& labels = model::ensure(made, {"metadata", "labels"});
      for (const auto& [key, value] :
           std::vector<std::pair<const char*, const char*>>{{"liqo.io/replicated", "true"},
                                                            {"liqo.io/replication", "false"},
                                                            {"liqo.io/originID", "rome"},
                                                            {"liqo.io/remote-cluster-id", "rome"},
                                                            {"liqo.io/remoteID", "milan"}}) {
        model::put(labels, key, model::text_node(value));
      }
      milan.create(Place::path(liqo::k_slices, k_at_seller), model::to_json(made));
      return;
    }
    const model::Node* status = model::look(copy.body, {"status"});
    const model::Node* known = model::look(slice, {"status"});
    if (status == nullptr || (known != nullptr && model::same(*status, *known))) return;
    model::Node patch = model::object_node();
    model::put(patch, "status", *status);
    rome.merge(here + "/status", model::to_json(patch));
  }
  // They go with their slices, whoever ends those.
  void collect_kubeconfigs() {
    const std::string prefix = "kubeconfig-resourceslice-";
    for (const model::Node& secret : rome.all(liqo::k_secrets)) {
      const std::string name = name_of(secret);
      if (!name.starts_with(prefix)) continue;
      const std::string slice = name.substr(prefix.size());
      if (rome.has(Place::path(liqo::k_slices, k_at_buyer, slice))) continue;
      rome.remove(Place::path(liqo::k_secrets, k_at_buyer, name));
    }
  }
  void make_kubeconfigs() {
    collect_kubeconfigs();
    for (const model::Node& slice : rome.all(liqo::k_slices)) {
      const std::string name = "kubeconfig-resourceslice-" + name_of(slice);
      if (is_deleted(slice) || model::look(slice, {"status", "authParams"}) == nullptr ||
          rome.has(Place::path(liqo::k_secrets, k_at_buyer, name))) {
        continue;
      }
      rome.create(Place::path(liqo::k_secrets, k_at_buyer),
                  fmt::format(R"({{"metadata":{{"name":"{}","labels":)"
                              R"({{"liqo.io/remote-cluster-id":"milan"}}}},)"
                              R"("data":{{"kubeconfig":"{}"}}}})",
                              name, to_base64(kubeconfig_of(slice))));
    }
  }
  static std::string kubeconfig_of(const model::Node& slice) {
    const auto said = [&slice](std::string_view what) {
      return model::text_at(slice, {"status", "authParams", what});
    };
    return fmt::format(
        R"({{"current-context":"c","contexts":[{{"name":"c","context":{{"cluster":"c"}}}}],)"
        R"("clusters":[{{"name":"c","cluster":{{"server":"{}","proxy-url":"{}"}}}}]}})",
        said("apiServer"), said("proxyURL"));
  }
  // Its webhook lets nobody write one whose options are not there, not even Liqo.
  bool may_write(const model::Node& virtual_node) {
    const auto part = [&](std::string_view which) {
      return model::text_at(virtual_node, {"spec", "vkOptionsTemplateRef", which});
    };
    return rome.has(Place::path(liqo::k_vk_templates, part("namespace"), part("name")));
  }
  void run_virtual_nodes() {
    for (const model::Node& one : rome.all(liqo::k_virtual_nodes)) {
      if (!may_write(one)) continue;
      const std::string at = Place::path_of(liqo::k_virtual_nodes, one);
      const std::string node = Place::path(liqo::k_nodes, {}, name_of(one));
      if (is_deleted(one)) {
        rome.remove(node);
        rome.merge(at, R"({"metadata":{"finalizers":null}})");
      } else if (model::items_at(one, {"metadata", "finalizers"}).empty()) {
        rome.merge(at, R"({"metadata":{"finalizers":["virtualnode-controller.liqo.io/f"]}})");
        rome.create(Place::path(liqo::k_leases, k_at_buyer),
                    fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name_of(one)));
      } else {
        report(name_of(one), node);
      }
    }
  }
  // What the virtual kubelet says of its node.
  void report(const std::string& name, const std::string& node) {
    const Told seen = rome.ask("GET", node);
    const Told slice = rome.ask("GET", Place::path(liqo::k_slices, k_at_buyer, name));
    const auto cpu = slice.text({"status", "resources", "cpu"});
    // Liqo leaves a VirtualNode alone that it may not make itself.
    const bool is_filled =
        slice.text({"metadata", "annotations", "liqo.io/create-virtual-node"}) == "true";
    const bool should =
        is_filled && has_condition(slice.body, "Resources") && !cpu.empty() && cpu != "0";
    bool is = false;
    for (const model::Node& one : model::items_at(seen.body, {"status", "conditions"})) {
      is = is ||
           (model::text_at(one, {"type"}) == "Ready" && model::text_at(one, {"status"}) == "True");
    }
    if (seen.status != 200 || is == should) return;
    rome.merge(node + "/status",
               fmt::format(R"({{"status":{{"conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
                           should ? "True" : "False"));
  }

  pki::Authority authority_ = pki::Authority::create("milan", Instant{1'769'000'000'000}).value();
};

}  // namespace spillway::test
