#include "fabric/liqo/virtual_node.h"

#include "fabric/liqo/part_fields.h"

namespace spillway::fabric::liqo {

template <class Fields>
void fields(Fields& f, VirtualNode& v) {
  f.part("metadata", v.meta);
  f.needed("spec.clusterID");
  f.id("spec.clusterID", v.provider);
  f.flag("spec.createNode", v.create_node);
  f.flag("spec.disableNetworkCheck", v.disable_network_check);
  f.name("spec.kubeconfigSecretRef.name", v.kubeconfig_secret);
  f.name("spec.vkOptionsTemplateRef.name", v.template_name);
  f.name("spec.vkOptionsTemplateRef.namespace", v.template_space);
  f.texts("spec.labels", v.labels);
  f.texts("spec.annotations", v.annotations);
  f.parts("spec.taints", v.taints);
  f.amounts("spec.resourceQuota.hard", v.amounts);
  f.texts("spec.offloadingPatch.nodeSelector", v.node_selector);
  f.parts("status.conditions", v.conditions);
}

VirtualNode new_virtual_node(NewVirtualNode wanted) {
  VirtualNode made;
  made.meta.space = tenant_namespace_name(wanted.provider);
  made.meta.labels = {{std::string(k_peer_label), wanted.provider}};
  made.create_node = true;
  made.disable_network_check = true;
  made.kubeconfig_secret = kubeconfig_secret_name(slice_identity_name(wanted.slice));
  made.meta.name = std::move(wanted.slice);
  made.provider = std::move(wanted.provider);
  if (!wanted.template_name.empty()) made.template_space = made.meta.space;
  made.template_name = std::move(wanted.template_name);
  made.labels = std::move(wanted.labels);
  made.annotations = std::move(wanted.annotations);
  made.taints = std::move(wanted.taints);
  return made;
}

Result<VirtualNode> read_virtual_node(const model::Node& object) {
  return read_object<VirtualNode>(object);
}
VirtualNode see_virtual_node(const model::Node& object, std::span<const std::string_view> words) {
  VirtualNode seen = see_object<VirtualNode>(object, words);
  if (!seen.unreadable.empty()) keep_reserved(object, {"spec", "labels"}, seen.labels);
  return seen;
}
model::Node to_object(const VirtualNode& node) { return write_object(node); }

model::Node node_to_adopt(NewUnitNode wanted) {
  wanted.taints.push_back({std::string(k_taint), "true", model::TaintEffect::no_execute});
  model::Node made = empty_object(k_nodes);
  Writer writer(made);
  writer.text("metadata.name", wanted.name);
  writer.texts("metadata.labels",
               {{std::string(k_peer_label), wanted.provider},
                {std::string(k_node_type_label), std::string(k_virtual_node_type)}});
  writer.text("spec.providerID", wanted.provider_id);
  writer.parts("spec.taints", wanted.taints);
  return made;
}

}  // namespace spillway::fabric::liqo
