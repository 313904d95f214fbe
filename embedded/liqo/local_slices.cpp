#include "embedded/liqo/local_slices.h"

#include "base/base64.h"
#include "embedded/document.h"
#include "embedded/liqo/vk_options.h"
#include "fabric/liqo/handshake.h"
#include "fabric/liqo/virtual_node.h"
#include "pki/subject_request.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;

constexpr Duration k_refused_wait = seconds(5);  // it begins with milliseconds, and doubles them

void copy_part(const Node& from, std::string_view key, Node& to, std::string_view as) {
  const Node* part = model::look(from, {"status", key});
  if (part == nullptr || part->items.empty()) {
    model::erase(to, as);
  } else {
    put(to, as, *part);
  }
}

void own(Node& document, const Object& owner) {
  Node& metadata = model::ensure(document, {"metadata"});
  for (const Node& one : model::items_at(metadata, {"ownerReferences"})) {
    if (model::text_at(one, {"uid"}) == owner.uid) return;
  }
  Node owners = model::array_node();
  owners.items.push_back(owner_reference(owner));
  put(metadata, "ownerReferences", std::move(owners));
}

// What the grant says of the node, whoever made the VirtualNode.
void write_grant(Node& document, const Object& owner, const Node& slice,
                 const std::string& provider) {
  own(document, owner);
  Node& labels = model::ensure(document, {"metadata", "labels"});
  put(labels, k_managed_label, text_node("true"));
  put(labels, codec::k_slice_label, text_node(owner.key.name));
  Node& spec = model::ensure(document, {"spec"});
  Node& of_node = model::ensure(spec, {"labels"});
  put(of_node, codec::k_peer_label, text_node(provider));
  for (const Node& label : model::items_at(slice, {"status", "nodeLabels"})) {
    put(of_node, label.key, label);
  }
  copy_part(slice, "resources", model::ensure(spec, {"resourceQuota"}), "hard");
  for (const std::string_view key : {"storageClasses", "ingressClasses", "loadBalancerClasses"}) {
    copy_part(slice, key, spec, key);
  }
  copy_part(slice, "nodeSelector", model::ensure(spec, {"offloadingPatch"}), "nodeSelector");
}

}  // namespace

LocalSlices::LocalSlices(const Setting& setting) : Controller(setting) {
  follow(codec::k_slices);
  follow(codec::k_virtual_nodes);  // of the same names
  follow(codec::k_identities, [this](const Object& identity) {
    const std::string_view slice = label_of(identity, codec::k_slice_label);
    if (!slice.empty()) look_soon({identity.key.space, std::string(slice)});
  });
}

void LocalSlices::look_at(const Key& key) {
  const ObjectPtr object = s_.find(codec::k_slices, key);
  if (object == nullptr || object->is_deleting) return;
  if (label_of(*object, codec::k_replication_label) != "true") return;
  const auto slice = codec::read_slice(object->document());
  if (!slice) return;
  if (slice->request.empty() || slice->buyer.empty()) return complete(key, *slice);
  if (slice->is_accepted(codec::k_authentication_condition) && slice->access) {
    make_identity(*object, *slice);
  }
  if (slice->is_accepted(codec::k_resources_condition)) settle_virtual_node(*object, *slice);
}

void LocalSlices::complete(const Key& key, const codec::Slice& slice) const {
  const auto request =
      pki::make_subject_request(s_.own_key, {s_.id(), codec::unit_user(key.name, s_.hash)});
  if (!request) return;
  s_.change(codec::k_slices, key, [&](Node& document) {
    Node& spec = model::ensure(document, {"spec"});
    put(spec, "consumerClusterID", text_node(s_.id()));
    if (slice.request.empty()) put(spec, "csr", text_node(to_base64(*request)));
  });
}

void LocalSlices::make_identity(const Object& object, const codec::Slice& slice) const {
  const Key key{object.key.space, codec::slice_identity_name(object.key.name)};
  if (s_.find(codec::k_identities, key) != nullptr) {
    return s_.change(codec::k_identities, key, [&](Node& document) {
      put(model::ensure(document, {"spec"}), "authParams", auth_params_node(*slice.access));
    });
  }
  Node made = new_document(key,
                           {{std::string(k_managed_label), "true"},
                            {std::string(codec::k_peer_label), slice.provider},
                            {std::string(codec::k_slice_label), object.key.name}},
                           &object);
  Node& spec = model::ensure(made, {"spec"});
  put(spec, "clusterID", text_node(slice.provider));
  put(spec, "type", text_node("ResourceSlice"));
  put(spec, "authParams", auth_params_node(*slice.access));
  s_.create(codec::k_identities, std::move(made));
}

// One that exists is left as it is, too, while the slice does not say so.
void LocalSlices::settle_virtual_node(const Object& object, const codec::Slice& slice) {
  if (slice.meta.annotation(codec::k_create_virtual_node_annotation) != "true") return;
  const ObjectPtr present = s_.find(codec::k_virtual_nodes, object.key);
  if (present != nullptr && present->is_deleting) return;
  const Node granted = object.document();
  if (present == nullptr) {
    if (s_.find(codec::k_nodes, {"", object.key.name}) != nullptr) return;
    Node made =
        to_object(codec::new_virtual_node({object.key.name, slice.provider, {}, {}, {}, {}}));
    write_grant(made, object, granted, slice.provider);
    return s_.create(codec::k_virtual_nodes, std::move(made));
  }
  if (!has_options(s_, present->document())) return look_after(k_refused_wait, object.key);
  s_.change(codec::k_virtual_nodes, object.key,
            [&](Node& document) { write_grant(document, object, granted, slice.provider); });
}

}  // namespace spillway::embedded::liqo
