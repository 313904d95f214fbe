#include "fabric/liqo/vk_options.h"

#include <initializer_list>

#include <fmt/format.h>

#include "fabric/liqo/shape.h"
#include "fabric/liqo/writer.h"

namespace spillway::fabric::liqo {
namespace {

constexpr std::string_view k_tokens_argument = "--enable-apiserver-support";
constexpr std::string_view k_allow_list = "AllowList";
constexpr std::string_view k_deny_list = "DenyList";
// Of kinds that a list can be given for. Endpoints follow their Service; events come the other way.
constexpr std::string_view k_listable[] = {"secret", "configmap", "service", "ingress"};

Reflection::By* list_of_kind(Reflection& reflection, std::string_view kind) {
  if (kind == "secret") return &reflection.secrets;
  if (kind == "configmap") return &reflection.config_maps;
  if (kind == "service") return &reflection.services;
  return kind == "ingress" ? &reflection.ingresses : nullptr;
}

bool is_tokens_argument(std::string_view argument) {
  return argument == k_tokens_argument ||
         argument.starts_with(fmt::format("{}=", k_tokens_argument));
}

void read_list(Reflection& reflection, std::string_view kind, std::string_view type) {
  Reflection::By* list = list_of_kind(reflection, kind);
  if (list == nullptr || type.empty()) return;
  *list = type == k_allow_list ? Reflection::By::allow_list : Reflection::By::deny_list;
}

// Liqo's programs send no tokens unless they are told to.
void read_tokens(Reflection& reflection, const std::vector<model::Node>& arguments) {
  reflection.tokens = false;
  for (const model::Node& one : arguments) {
    if (is_tokens_argument(one.text)) reflection.tokens = !one.text.ends_with("=false");
  }
}

// What makes one document of the other: members that are too many go.
model::Node difference(const model::Node& from, const model::Node& to) {
  model::Node patch = model::object_node();
  for (const model::Node& member : to.items) {
    const model::Node* before = from.find(member.key);
    if (before != nullptr && model::same(*before, member)) continue;
    const bool both = before != nullptr && before->kind == model::Node::Kind::object &&
                      member.kind == model::Node::Kind::object;
    model::put(patch, member.key, both ? difference(*before, member) : member);
  }
  for (const model::Node& member : from.items) {
    if (to.find(member.key) == nullptr) model::put(patch, member.key, model::Node{});
  }
  return patch;
}

}  // namespace

std::string_view template_name(Leaving leaving) {
  return leaving == Leaving::listed ? "spillway-listed" : "spillway-all";
}

std::optional<Leaving> leaving_of_template(std::string_view name) {
  for (const Leaving one : {Leaving::listed, Leaving::all}) {
    if (name == template_name(one)) return one;
  }
  return std::nullopt;
}

model::Node options_template(const model::Node& base, std::string_view space, Leaving leaving) {
  model::Node made = empty_object(k_vk_templates);
  model::Node& meta = model::ensure(made, {"metadata"});
  model::put(meta, "name", model::text_node(template_name(leaving)));
  model::put(meta, "namespace", model::text_node(space));
  // Merged, so that it has no nulls: no patch could put one where it is missing.
  if (const model::Node* spec = model::look(base, {"spec"})) {
    model::merge(made, object_of({{"spec", *spec}}));
  }
  // What may leave is said here, whatever the base says: one that sends nothing is no trust.
  const bool is_listed = leaving == Leaving::listed;
  for (const std::string_view kind : k_listable) {
    model::Node& reflector = model::ensure(made, {"spec", "reflectorsConfig", kind});
    if (model::look(reflector, {"workers"}) == nullptr) {
      model::put(reflector, "workers", model::integer_node(1));
    }
    model::put(reflector, "type", model::text_node(is_listed ? k_allow_list : k_deny_list));
  }
  model::Node arguments = model::array_node();
  for (const model::Node& one : model::items_at(made, {"spec", "extraArgs"})) {
    if (!is_tokens_argument(one.text)) arguments.items.push_back(one);
  }
  arguments.items.push_back(
      model::text_node(fmt::format("{}={}", k_tokens_argument, is_listed ? "false" : "true")));
  model::put(model::ensure(made, {"spec"}), "extraArgs", std::move(arguments));
  return made;
}

model::Node options_patch(const model::Node& seen, const model::Node& wanted) {
  const model::Node none = model::object_node();
  const model::Node* before = model::look(seen, {"spec"});
  model::Node spec = difference(before == nullptr ? none : *before, *model::look(wanted, {"spec"}));
  model::Node patch = model::object_node();
  if (!spec.items.empty()) model::put(patch, "spec", std::move(spec));
  return patch;
}

std::optional<Reflection> reflection_of_node(const model::Node& virtual_node) {
  const auto& containers =
      model::items_at(virtual_node, {"spec", "template", "spec", "template", "spec", "containers"});
  if (containers.empty()) return std::nullopt;
  const auto& arguments = model::items_at(containers.front(), {"args"});
  Reflection reflection;
  for (const std::string_view kind : k_listable) {
    const std::string prefix = fmt::format("--{}-reflection-type=", kind);
    for (const model::Node& one : arguments) {
      const std::string_view text = one.text;
      if (text.starts_with(prefix)) read_list(reflection, kind, text.substr(prefix.size()));
    }
  }
  read_tokens(reflection, arguments);
  return reflection;
}

Reflection reflection_of_template(const model::Node& options) {
  Reflection reflection;
  for (const std::string_view kind : k_listable) {
    read_list(reflection, kind,
              model::text_at(options, {"spec", "reflectorsConfig", kind, "type"}));
  }
  read_tokens(reflection, model::items_at(options, {"spec", "extraArgs"}));
  return reflection;
}

}  // namespace spillway::fabric::liqo
