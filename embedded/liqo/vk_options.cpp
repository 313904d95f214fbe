#include "embedded/liqo/vk_options.h"

#include <fmt/format.h>

#include "embedded/document.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;

constexpr std::string_view k_listed_kinds[] = {"service", "ingress", "configmap", "secret",
                                               "event"};

}  // namespace

void make_default_options(const Setting& s) {
  Node made = new_document(
      {std::string(codec::k_namespace), std::string(codec::k_default_template)}, {}, nullptr);
  Node& spec = model::ensure(made, {"spec"});
  put(spec, "createNode", model::boolean_node(true));
  put(spec, "disableNetworkCheck", model::boolean_node(false));
  put(spec, "containerImage", text_node("ghcr.io/liqotech/virtual-kubelet:v1.2.0"));
  put(spec, "metricsEnabled", model::boolean_node(false));
  put(spec, "replicas", model::integer_node(1));
  for (const std::string_view kind : k_listed_kinds) {
    Node& reflector = model::ensure(spec, {"reflectorsConfig", kind});
    put(reflector, "workers", model::integer_node(3));
    put(reflector, "type", text_node("DenyList"));
  }
  put(spec, "extraArgs", model::array_node())
      .items.push_back(text_node("--enable-apiserver-support=true"));
  s.create(codec::k_vk_templates, std::move(made));
}

ObjectPtr options_of(const Setting& s, const Node& virtual_node) {
  std::string space(model::text_at(virtual_node, {"spec", "vkOptionsTemplateRef", "namespace"}));
  std::string name(model::text_at(virtual_node, {"spec", "vkOptionsTemplateRef", "name"}));
  if (name.empty()) {
    space = codec::k_namespace;
    name = codec::k_default_template;
  }
  return s.find(codec::k_vk_templates, {space, name});
}

void fill_deployment(const Setting& s, Node& virtual_node) {
  const ObjectPtr options = options_of(s, virtual_node);
  if (options == nullptr) return;
  const Node document = options->document();
  Node arguments = model::array_node();
  for (const std::string_view kind : k_listed_kinds) {
    const auto type = model::text_at(document, {"spec", "reflectorsConfig", kind, "type"});
    if (type.empty()) continue;
    arguments.items.push_back(text_node(fmt::format("--{}-reflection-type={}", kind, type)));
  }
  for (const Node& one : model::items_at(document, {"spec", "extraArgs"})) {
    arguments.items.push_back(one);
  }
  Node container = model::object_node();
  put(container, "name", text_node("virtual-kubelet"));
  put(container, "image", text_node(model::text_at(document, {"spec", "containerImage"})));
  put(container, "args", std::move(arguments));
  put(model::ensure(virtual_node, {"spec", "template", "spec", "template", "spec"}), "containers",
      model::array_node())
      .items.push_back(std::move(container));
}

}  // namespace spillway::embedded::liqo
