#include "fabric/liqo/slice.h"

#include "fabric/liqo/part_fields.h"
#include "model/tree.h"

namespace spillway::fabric::liqo {
namespace {

// The three lists of classes differ in the name of the name.
struct StorageClass : OfferedClass {};
struct IngressClass : OfferedClass {};
struct LoadBalancerClass : OfferedClass {};

template <class Fields>
void class_fields(Fields& f, std::string_view name, OfferedClass& c) {
  f.needed(name);
  f.text(name, c.name);
  f.flag("default", c.is_default);
}
template <class Fields>
void fields(Fields& f, StorageClass& c) {
  class_fields(f, "storageClassName", c);
}
template <class Fields>
void fields(Fields& f, IngressClass& c) {
  class_fields(f, "ingressClassName", c);
}
template <class Fields>
void fields(Fields& f, LoadBalancerClass& c) {
  class_fields(f, "loadBalancerClassName", c);
}

template <class Named, class Fields>
void offered(Fields& f, std::string_view path, std::vector<OfferedClass>& classes) {
  std::vector<Named> named;
  for (const OfferedClass& one : classes) named.push_back(Named{one});
  f.parts(path, named);
  classes.assign(named.begin(), named.end());
}

// Whole, for a merge patch replaces the list: Liqo's own entries stay as they are.
Conditions decided(const Slice& replica, std::string_view status, std::string_view reason,
                   Instant now) {
  Conditions made;
  for (const Condition& one : replica.conditions) {
    if (one.type != k_resources_condition) made.push_back(one);
  }
  const Instant second{now.ms - now.ms % 1000};  // Kubernetes' times have no fraction
  Condition decision{std::string(k_resources_condition), std::string(status), std::string(reason),
                     "", to_text(second)};
  for (const Condition& one : replica.conditions) {
    const bool is_same = one.type == k_resources_condition && one.status == status;
    if (is_same) decision.since = one.since;
  }
  made.push_back(std::move(decision));
  return made;
}

model::Node status_patch(const Slice& replica, Conditions conditions) {
  model::Node patch = model::object_node();
  Writer writer(patch);
  writer.text("metadata.resourceVersion", replica.meta.version);
  writer.parts("status.conditions", conditions);
  return patch;
}

// A merge patch keeps the members of a map that it does not name: what is no longer granted is
// named as null.
void replace_map(model::Node& status, std::string_view key, const model::Node& wanted,
                 const std::vector<std::string>& before) {
  model::Node made = wanted;
  made.key = key;
  if (made.kind != model::Node::Kind::object) made = model::object_node();
  for (const std::string& name : before) {
    if (made.find(name) == nullptr) model::put(made, name, model::Node{});
  }
  model::put(status, key, std::move(made));
}

template <class Map>
std::vector<std::string> keys_of(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

}  // namespace

template <class Fields>
void fields(Fields& f, Slice& s) {
  f.part("metadata", s.meta);
  f.id("spec.consumerClusterID", s.buyer);
  f.id("spec.providerClusterID", s.provider);
  f.text("spec.class", s.class_name);
  f.bytes("spec.csr", s.request);
  f.amounts("spec.resources", s.wanted);
  f.parts("status.conditions", s.conditions);
  f.part("status.authParams", s.access);
  f.amounts("status.resources", s.grant.amounts);
  f.texts("status.nodeLabels", s.grant.node_labels);
  f.texts("status.nodeSelector", s.grant.node_selector);
  offered<StorageClass>(f, "status.storageClasses", s.grant.storage);
  offered<IngressClass>(f, "status.ingressClasses", s.grant.ingress);
  offered<LoadBalancerClass>(f, "status.loadBalancerClasses", s.grant.load_balancer);
}

Slice new_slice(NewSlice wanted, bool with_node) {
  Slice made;
  made.meta.name = std::move(wanted.name);
  made.meta.space = tenant_namespace_name(wanted.provider);
  made.meta.labels = {{std::string(k_replication_label), "true"},
                      {std::string(k_destination_label), wanted.provider},
                      {std::string(k_peer_label), wanted.provider}};
  made.meta.annotations = {
      {std::string(k_create_virtual_node_annotation), with_node ? "true" : "false"}};
  made.buyer = std::move(wanted.buyer);
  made.provider = std::move(wanted.provider);
  made.class_name = k_class;
  made.request = std::move(wanted.request);
  made.wanted = std::move(wanted.wanted);
  return made;
}

Result<Slice> read_slice(const model::Node& object) { return read_object<Slice>(object); }
Slice see_slice(const model::Node& object, std::span<const std::string_view> words) {
  return see_object<Slice>(object, words);
}
model::Node to_object(const Slice& slice) { return write_object(slice); }

Status check_replica(const Slice& slice, std::string_view buyer, std::string_view provider) {
  const std::string thing = fmt::format("ResourceSlice {}/{}", slice.meta.space, slice.meta.name);
  const auto must = [&thing](std::string_view what, std::string_view is,
                             std::string_view wanted) -> Status {
    if (is == wanted) return {};
    return fail(Code::denied, thing, fmt::format("{} is not {}", what, wanted),
                "a buyer's copy has the labels that Liqo's replicator gives it");
  };
  SPILLWAY_TRY(must("metadata.namespace", slice.meta.space, tenant_namespace_name(buyer)));
  SPILLWAY_TRY(must(k_replicated_label, slice.meta.label(k_replicated_label), "true"));
  SPILLWAY_TRY(must(k_replication_label, slice.meta.label(k_replication_label), "false"));
  SPILLWAY_TRY(must(k_origin_label, slice.meta.label(k_origin_label), buyer));
  SPILLWAY_TRY(must(k_peer_label, slice.meta.label(k_peer_label), buyer));
  SPILLWAY_TRY(must(k_destination_label, slice.meta.label(k_destination_label), provider));
  SPILLWAY_TRY(must("spec.consumerClusterID", slice.buyer, buyer));
  SPILLWAY_TRY(must("spec.providerClusterID", slice.provider, provider));
  return must("spec.class", slice.class_name, k_class);
}

model::Node grant_patch(const Slice& replica, const Grant& grant, Instant now) {
  model::Node patch = status_patch(replica, decided(replica, k_accepted, "Contract", now));
  Slice only;
  only.grant = grant;
  const model::Node said = to_object(only);
  const auto part = [&said](std::string_view key) {
    const model::Node* found = model::look(said, {"status", key});
    return found == nullptr ? model::Node{} : *found;
  };
  model::Node& status = model::ensure(patch, {"status"});
  replace_map(status, "resources", part("resources"), keys_of(replica.grant.amounts));
  replace_map(status, "nodeLabels", part("nodeLabels"), keys_of(replica.grant.node_labels));
  replace_map(status, "nodeSelector", part("nodeSelector"), keys_of(replica.grant.node_selector));
  for (const char* key : {"storageClasses", "ingressClasses", "loadBalancerClasses"}) {
    model::put(status, key, part(key));  // null removes it
  }
  return patch;
}

model::Node denial_patch(const Slice& replica, std::string_view reason, Instant now) {
  return status_patch(replica, decided(replica, k_denied, reason, now));
}

model::Node cordon_patch(bool cordoned) {
  model::Node patch = model::object_node();
  model::put(model::ensure(patch, {"metadata", "annotations"}), k_cordon_annotation,
             cordoned ? model::text_node("true") : model::Node{});
  return patch;
}

namespace {

model::Node with_node_patch(bool with_node) {
  model::Node patch = model::object_node();
  model::put(model::ensure(patch, {"metadata", "annotations"}), k_create_virtual_node_annotation,
             model::text_node(with_node ? "true" : "false"));
  return patch;
}

}  // namespace

model::Node keep_without_node_patch() { return with_node_patch(false); }
model::Node keep_with_node_patch() { return with_node_patch(true); }

}  // namespace spillway::fabric::liqo
