#include "support/two_liqos.h"

#include "base/base64.h"
#include "base/check.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::test {
namespace {

using fabric::Place;
using model::Node;
using model::text_at;
using model::text_node;

constexpr const char* k_at_buyer = "liqo-tenant-milan";  // tenant namespaces
constexpr const char* k_at_seller = "liqo-tenant-rome";  //
constexpr const char* k_guests = "work-rome";            // the namespace of guests

Shelf::Key in(const char* plural, const char* space, const std::string& name) {
  return {plural, space, name};
}

Node* condition(Node& object, std::string_view type) {
  Node& status = model::ensure(object, {"status"});
  Node* list = nullptr;
  for (Node& member : status.items) {
    if (member.key == "conditions") list = &member;
  }
  if (list == nullptr) list = &model::put(status, "conditions", model::array_node());
  for (Node& one : list->items) {
    if (text_at(one, {"type"}) == type) return &one;
  }
  return nullptr;
}

bool is_accepted(Node& object, std::string_view type) {
  Node* found = condition(object, type);
  return found != nullptr && text_at(*found, {"status"}) == "Accepted";
}

void accept_authentication(Node& slice) {
  Node made = model::object_node();
  model::put(made, "type", text_node("Authentication"));
  model::put(made, "status", text_node("Accepted"));
  for (Node& member : model::ensure(slice, {"status"}).items) {
    if (member.key == "conditions") member.items.push_back(made);
  }
}

Node access() {
  Node made = model::object_node();
  model::put(made, "ca", text_node(to_base64("authority")));
  model::put(made, "signedCRT", text_node(to_base64("certificate")));
  model::put(made, "apiServer", text_node("https://milan:6443"));
  return made;
}

Node object_of(const char* version, const char* kind, const char* space, const std::string& name) {
  Node made = model::object_node();
  model::put(made, "apiVersion", text_node(version));
  model::put(made, "kind", text_node(kind));
  Node& meta = model::ensure(made, {"metadata"});
  model::put(meta, "name", text_node(name));
  if (*space != 0) model::put(meta, "namespace", text_node(space));
  return made;
}

bool may_make_node(const Node& slice) {
  return text_at(slice, {"metadata", "annotations", "liqo.io/create-virtual-node"}) == "true";
}

bool is_ready(const Node& node) { return text_at(node, {"status", "ready"}) == "True"; }

}  // namespace

// ---- deeds ---------------------------------------------------------------------------------

void TwoLiqos::do_at_buyer(const fabric::Deed& deed) {
  if (const auto* one = std::get_if<fabric::Create>(&deed)) {
    // Liqo's webhook.
    const bool is_virtual = one->at.kind.plural == fabric::liqo::k_virtual_nodes.plural;
    if (is_virtual && buyer.find({"nodes", "", one->at.name}) != nullptr) return;
    buyer.create(*one);
  }
  if (const auto* one = std::get_if<fabric::Merge>(&deed)) buyer.merge(*one);
  if (const auto* one = std::get_if<fabric::Remove>(&deed)) {
    const bool is_asked = one->at.kind.plural == fabric::liqo::k_pods.plural && !one->is_forced;
    if (is_asked) {
      (void)end_pod({"pods", one->at.space, one->at.name});
    } else {
      buyer.remove(*one);
    }
  }
  if (const auto* one = std::get_if<fabric::Say>(&deed)) to_seller.push_back(*one);
  if (const auto* one = std::get_if<fabric::Evict>(&deed)) {
    if (!is_refusing) (void)end_pod({"pods", one->space, one->pod});
  }
}

void TwoLiqos::do_at_seller(const fabric::Deed& deed) {
  if (const auto* one = std::get_if<fabric::Create>(&deed)) seller.create(*one);
  if (const auto* one = std::get_if<fabric::Merge>(&deed)) seller.merge(*one);
  if (const auto* one = std::get_if<fabric::Remove>(&deed)) seller.remove(*one);
  if (const auto* one = std::get_if<fabric::Say>(&deed)) to_buyer.push_back(*one);
}

// ---- what is seen --------------------------------------------------------------------------

fabric::SellerSight TwoLiqos::seller_sight() {
  fabric::SellerSight sight;
  if (const Node* space = seller.find({"namespaces", "", k_at_seller})) {
    sight.has_space = true;
    sight.provider = fabric::see_peer_space(*space).provider;
  }
  if (const Node* nonce = seller.find(in("secrets", k_at_seller, "liqo-nonce"))) {
    sight.nonce = fabric::liqo::read_nonce(*nonce).value();
  }
  if (const Node* tenant = seller.find(in("tenants", k_at_seller, k_buyer))) {
    sight.tenant = fabric::liqo::read_tenant(*tenant).value();
  }
  if (const Node* record = seller.find(in("configmaps", k_at_seller, "spillway-units"))) {
    sight.record = fabric::read_record(*record).value();
  }
  for (const auto& key : seller.all("resourceslices")) {
    sight.slices.emplace(std::get<2>(key), fabric::liqo::read_slice(*seller.find(key)).value());
  }
  for (const auto& key : seller.all("shadowpods")) {
    const fabric::GuestSight guest = fabric::see_guest(*seller.find(key));
    const Place at{fabric::liqo::k_shadow_pods, std::get<1>(key), std::get<2>(key)};
    sight.guests[guest.creator].push_back(at);
    if (guest.has_identity) sight.with_identity[guest.creator].push_back(at);
  }
  see_fence(sight.fence);
  const std::string prefix = fabric::liqo::certificate_secret_name("");
  for (const auto& key : seller.all("secrets")) {
    const std::string& name = std::get<2>(key);
    if (name.starts_with(prefix)) sight.certificates.push_back(name.substr(prefix.size()));
  }
  return sight;
}

void TwoLiqos::see_fence(fabric::FenceSight& fence) {
  const std::string name(fabric::k_fence_name);
  if (const Node* role = seller.find(in("roles", k_at_seller, name))) {
    fence.role = fabric::judge_fence_role(*role);
  }
  if (const Node* binding = seller.find(in("rolebindings", k_at_seller, name))) {
    fence.binding = fabric::judge_fence_binding(*binding, k_buyer);
  }
  const Node* lease = seller.find(in("leases", k_at_seller, name));
  if (lease == nullptr) {
    fabric::note_no_lease(fence_, !seller.all("resourceslices").empty());
  } else {
    fabric::note_lease(fence_, fabric::read_buyer_lease(*lease).value(), now);
  }
  fence_.role = fence.role;
  fence_.binding = fence.binding;
  fence = fence_;
}

bool TwoLiqos::renew(Instant sent, int64_t turns) {
  const Place at{fabric::liqo::k_leases, k_at_seller, std::string(fabric::k_fence_name)};
  if (seller.find(Shelf::key(at)) == nullptr) return false;
  return seller.merge({at, fabric::renewal_patch(k_buyer, turns, sent)});
}

fabric::BuyerSight TwoLiqos::buyer_sight() {
  fabric::BuyerSight sight;
  sight.has_space = buyer.find({"namespaces", "", k_at_buyer}) != nullptr;
  if (const Node* identity = buyer.find(in("identities", k_at_buyer, "controlplane-milan"))) {
    sight.identity = fabric::liqo::read_identity(*identity).value();
  }
  for (const auto& key : buyer.all("resourceslices")) {
    const std::string& name = std::get<2>(key);
    fabric::BoughtSight& unit = sight.units[name];
    unit.slice = fabric::liqo::read_slice(*buyer.find(key)).value();
    unit.has_access =
        buyer.find(in("secrets", k_at_buyer, "kubeconfig-resourceslice-" + name)) != nullptr;
  }
  for (const auto& key : buyer.all("virtualnodes")) {
    sight.units[std::get<2>(key)].virtual_node =
        fabric::liqo::read_virtual_node(*buyer.find(key)).value();
  }
  for (const auto& key : buyer.all("nodes")) {
    const Node& node = *buyer.find(key);
    sight.units[std::get<2>(key)].node =
        fabric::NodeSight{std::string(text_at(node, {"metadata", "uid"})),
                          std::string(text_at(node, {"spec", "providerID"})),
                          is_ready(node),
                          model::boolean_at(node, {"spec", "unschedulable"}),
                          std::string(text_at(node, {"metadata", "resourceVersion"})),
                          model::items_at(node, {"spec", "taints"}),
                          text_at(node, {"status", "ready"}) == "Unknown"};
  }
  for (const auto& key : buyer.all("pods")) {
    const Node& pod = *buyer.find(key);
    const std::string node(text_at(pod, {"spec", "nodeName"}));
    if (!node.starts_with("sw-")) continue;
    sight.units[node].pods.push_back(
        {.space = std::get<1>(key),
         .name = std::get<2>(key),
         .is_leaving = Shelf::is_deleted(pod),
         .uid = std::string(text_at(pod, {"metadata", "uid"})),
         .version = std::string(text_at(pod, {"metadata", "resourceVersion"})),
         .has_identity = fabric::has_identity(*model::look(pod, {"metadata", "labels"}), Node{}),
         .grace = {},
         .tolerations = model::items_at(pod, {"spec", "tolerations"})});
  }
  for (const auto& key : buyer.all("leases")) sight.units[std::get<2>(key)].has_lease = true;
  return sight;
}

// ---- Liqo's own work -----------------------------------------------------------------------

bool TwoLiqos::work(size_t choice) {
  const auto all = chances();
  if (all.empty()) return false;
  all[choice % all.size()]();
  return true;
}

std::vector<std::function<void()>> TwoLiqos::chances() {
  std::vector<std::function<void()>> all;
  chances_at_seller(all);
  chances_between(all);
  chances_at_buyer(all);
  return all;
}

void TwoLiqos::chances_at_seller(std::vector<std::function<void()>>& all) {
  Node* nonce = seller.find(in("secrets", k_at_seller, "liqo-nonce"));
  if (nonce != nullptr && text_at(*nonce, {"data", "nonce"}).empty()) {
    all.emplace_back([this, nonce] {
      model::put(model::ensure(*nonce, {"data"}), "nonce",
                 text_node(to_base64(fmt::format("nonce-{}", ++nonces_))));
      seller.touch(*nonce);
    });
  }
  Node* tenant = seller.find(in("tenants", k_at_seller, k_buyer));
  // Of another nonce than this one Liqo says nothing.
  const bool is_proven = tenant != nullptr && nonce != nullptr &&
                         *from_base64(text_at(*tenant, {"spec", "signature"})) ==
                             "signed " + *from_base64(text_at(*nonce, {"data", "nonce"}));
  if (is_proven && model::look(*tenant, {"status", "authParams"}) == nullptr) {
    all.emplace_back([this, tenant] {
      model::put(model::ensure(*tenant, {"status"}), "authParams", access());
      model::put(model::ensure(*tenant, {"status"}), "tenantNamespace", text_node(k_at_seller));
      seller.touch(*tenant);
    });
  }
  for (const auto& key : seller.all("resourceslices")) {
    Node* slice = seller.find(key);
    if (is_accepted(*slice, "Authentication")) continue;
    all.emplace_back([this, slice, key] {
      accept_authentication(*slice);
      model::put(model::ensure(*slice, {"status"}), "authParams", access());
      seller.touch(*slice);
      const auto secret =
          in("secrets", k_at_seller, fabric::liqo::certificate_secret_name(std::get<2>(key)));
      if (seller.find(secret) == nullptr) {
        seller.put(secret, object_of("v1", "Secret", k_at_seller, std::get<2>(secret)));
      }
    });
  }
}

bool TwoLiqos::may_exist(const std::string& slice, const Node& object) {
  const Node* record = seller.find(in("configmaps", k_at_seller, "spillway-units"));
  return record != nullptr && text_at(*record, {"data", slice}) == text_at(object, {"spec", "csr"});
}

// The replicator, once it has an identity.
void TwoLiqos::chances_between(std::vector<std::function<void()>>& all) {
  const Node* identity = buyer.find(in("identities", k_at_buyer, "controlplane-milan"));
  const bool has_tenant = seller.find(in("tenants", k_at_seller, k_buyer)) != nullptr;
  if (identity == nullptr || !has_tenant || is_cut_off) return;
  for (const auto& key : buyer.all("resourceslices")) {
    const std::string name = std::get<2>(key);
    Node* slice = buyer.find(key);
    const auto there = in("resourceslices", k_at_seller, name);
    Node* replica = seller.find(there);
    if (Shelf::is_deleted(*slice)) {
      all.emplace_back([this, there, key, name] {
        seller.erase(there);
        buyer.erase(key);
        buyer.erase(in("secrets", k_at_buyer, "kubeconfig-resourceslice-" + name));
      });
    } else if (replica == nullptr && may_exist(name, *slice)) {
      all.emplace_back([this, slice, there] {
        Node copy = *slice;
        model::erase(copy, "status");
        model::erase(model::ensure(copy, {"metadata"}), "finalizers");
        Node& meta = model::ensure(copy, {"metadata"});
        model::put(meta, "namespace", text_node(k_at_seller));
        Node& labels = model::ensure(copy, {"metadata", "labels"});
        model::put(labels, "liqo.io/replicated", text_node("true"));
        model::put(labels, "liqo.io/replication", text_node("false"));
        model::put(labels, "liqo.io/originID", text_node(k_buyer));
        model::put(labels, "liqo.io/remote-cluster-id", text_node(k_buyer));
        seller.put(there, std::move(copy));
        Node finalizers = model::array_node();
        finalizers.items.push_back(text_node("crdreplicator.liqo.io/resource"));
        model::put(model::ensure(*slice, {"metadata"}), "finalizers", std::move(finalizers));
        buyer.touch(*slice);
      });
    } else if (replica != nullptr) {
      const Node* said = model::look(*replica, {"status"});
      const Node* known = model::look(*slice, {"status"});
      if (said == nullptr || (known != nullptr && model::same(*said, *known))) continue;
      all.emplace_back([this, slice, status = *said] {
        model::put(*slice, "status", status);
        buyer.touch(*slice);
      });
    }
  }
}

// A pod goes when its virtual kubelet knows that its guest has gone. False: it cannot know.
bool TwoLiqos::end_pod(const Shelf::Key& pod) {
  const auto guest = in("shadowpods", k_guests, std::get<2>(pod));
  if (is_cut_off && seller.find(guest) != nullptr) return false;
  seller.erase(guest);
  buyer.erase(pod);
  return true;
}

// Nothing new comes, and what is there is evicted. True: it is empty.
bool TwoLiqos::drain(const std::string& node) {
  if (Node* object = buyer.find({"nodes", "", node})) {
    Node& spec = model::ensure(*object, {"spec"});
    if (!model::boolean_at(spec, {"unschedulable"})) {
      model::put(spec, "unschedulable", model::boolean_node(true));
      buyer.touch(*object);
    }
  }
  bool is_empty = true;
  for (const auto& key : buyer.all("pods")) {
    if (text_at(*buyer.find(key), {"spec", "nodeName"}) != node) continue;
    if (is_refusing || !end_pod(key)) is_empty = false;
  }
  return is_empty;
}

void TwoLiqos::chances_at_buyer(std::vector<std::function<void()>>& all) {
  for (const auto& key : buyer.all("resourceslices")) {
    const std::string name = std::get<2>(key);
    const auto secret = in("secrets", k_at_buyer, "kubeconfig-resourceslice-" + name);
    const bool is_let_in = is_accepted(*buyer.find(key), "Authentication");
    if (!is_let_in || Shelf::is_deleted(*buyer.find(key)) || buyer.find(secret) != nullptr)
      continue;
    all.emplace_back([this, secret] {
      buyer.put(secret, object_of("v1", "Secret", k_at_buyer, std::get<2>(secret)));
    });
  }
  for (const auto& key : buyer.all("resourceslices")) {  // granted, and no VirtualNode of it
    Node& slice = *buyer.find(key);
    const auto made = in("virtualnodes", k_at_buyer, std::get<2>(key));
    const bool is_wanted = may_make_node(slice) && is_accepted(slice, "Resources");
    if (!is_wanted || Shelf::is_deleted(slice) || buyer.find(made) != nullptr) continue;
    all.emplace_back([this, made] {
      Node object =
          object_of("offloading.liqo.io/v1beta1", "VirtualNode", k_at_buyer, std::get<2>(made));
      model::put(model::ensure(object, {"spec"}), "clusterID", text_node(k_seller));
      buyer.put(made, std::move(object));
    });
  }
  const std::string prefix = "kubeconfig-resourceslice-";
  for (const auto& key :
       buyer.all("secrets")) {  // its Identity goes with the slice, and it with that
    const std::string& name = std::get<2>(key);
    if (!name.starts_with(prefix)) continue;
    if (buyer.find(in("resourceslices", k_at_buyer, name.substr(prefix.size()))) != nullptr)
      continue;
    all.emplace_back([this, key] { buyer.erase(key); });
  }
  for (const auto& key : buyer.all("pods")) {  // Kubernetes' own: a pod without its node
    const std::string node(text_at(*buyer.find(key), {"spec", "nodeName"}));
    const bool is_of_unit = node.starts_with("sw-");
    if (!is_of_unit || buyer.find({"nodes", "", node}) != nullptr) continue;
    all.emplace_back([this, key] { buyer.erase(key); });
  }
  for (const auto& key : buyer.all("nodes")) {  // Kubernetes' own: nobody is heard for it
    const auto served = in("virtualnodes", k_at_buyer, std::get<2>(key));
    const bool is_known = text_at(*buyer.find(key), {"status", "ready"}) == "Unknown";
    if (is_known || buyer.find(served) != nullptr) continue;
    all.emplace_back([this, key] {
      model::put(model::ensure(*buyer.find(key), {"status"}), "ready", text_node("Unknown"));
      buyer.touch(*buyer.find(key));
    });
  }
  for (const auto& key : buyer.all("virtualnodes")) {
    const std::string name = std::get<2>(key);
    const Shelf::Key node_key{"nodes", "", name};
    Node* node = buyer.find(node_key);
    if (Shelf::is_deleted(*buyer.find(key)) ||
        model::items_at(*buyer.find(key), {"metadata", "finalizers"}).empty()) {
      // Its controller: a finalizer first, and at the end the Node goes with it.
      all.emplace_back([this, key, node_key, name] {
        Node& virtual_node = *buyer.find(key);
        if (Shelf::is_deleted(virtual_node)) {
          if (!drain(name)) return;
          buyer.erase(node_key);
          return buyer.erase(key);
        }
        Node finalizers = model::array_node();
        finalizers.items.push_back(text_node("virtualnode-controller.liqo.io/finalizer"));
        model::put(model::ensure(virtual_node, {"metadata"}), "finalizers", std::move(finalizers));
        buyer.touch(virtual_node);
        buyer.put(in("leases", k_at_buyer, name),
                  object_of("coordination.k8s.io/v1", "Lease", k_at_buyer, name));
      });
      continue;
    }
    // The virtual kubelet adopts the node that is there, or makes one without a provider id.
    if (node == nullptr) {
      all.emplace_back(
          [this, node_key, name] { buyer.put(node_key, object_of("v1", "Node", "", name)); });
      continue;
    }
    Node* slice = buyer.find(in("resourceslices", k_at_buyer, name));
    // Liqo leaves a VirtualNode alone that it may not make itself.
    const bool has_amounts = slice != nullptr && is_accepted(*slice, "Resources") &&
                             may_make_node(*slice) &&
                             text_at(*slice, {"status", "resources", "cpu"}) != "0";
    const bool is_heard = text_at(*node, {"status", "ready"}) != "Unknown";
    if (is_heard && has_amounts == is_ready(*node)) continue;
    all.emplace_back([this, node, has_amounts] {
      model::put(model::ensure(*node, {"status"}), "ready",
                 text_node(has_amounts ? "True" : "False"));
      buyer.touch(*node);
    });
  }
}

void TwoLiqos::add_pod(const std::string& node, const std::string& name, bool has_identity) {
  Node pod = object_of("v1", "Pod", "work", name);
  Node& labels = model::ensure(pod, {"metadata", "labels"});
  constexpr std::string_view k_identity = "statefulset.kubernetes.io/pod-name";
  if (has_identity) model::put(labels, k_identity, text_node(name));
  model::put(model::ensure(pod, {"spec"}), "nodeName", text_node(node));
  buyer.put({"pods", "work", name}, std::move(pod));
  Node guest = object_of("offloading.liqo.io/v1beta1", "ShadowPod", k_guests, name);
  model::put(model::ensure(guest, {"metadata", "labels"}), "liqo.io/creator-user",
             text_node(fabric::liqo::unit_user(node, std::string(64, 'a'))));
  if (has_identity) {
    model::put(model::ensure(guest, {"metadata", "labels"}), k_identity, text_node(name));
  }
  seller.put({"shadowpods", k_guests, name}, std::move(guest));
}

}  // namespace spillway::test
