#include "embedded/openapi.h"

#include "model/tree.h"

namespace spillway::embedded {
namespace {

using model::Node;
using model::put;
using model::text_node;

std::string folder_of(const std::string& group, const std::string& version) {
  return group.empty() ? "api/" + version : "apis/" + group + "/" + version;
}

Node query_parameter(std::string_view name) {
  Node parameter = model::object_node();
  put(parameter, "name", text_node(name));
  put(parameter, "in", text_node("query"));
  put(model::ensure(parameter, {"schema"}), "type", text_node("string"));
  return parameter;
}

Node patch_operation(const Kind& kind, const std::string& version) {
  Node operation = model::object_node();
  Node parameters = model::array_node();
  for (const std::string_view name : {"dryRun", "fieldManager", "fieldValidation", "force"}) {
    parameters.items.push_back(query_parameter(name));
  }
  put(operation, "parameters", std::move(parameters));
  put(operation, "responses", model::object_node());
  Node& named = put(operation, "x-kubernetes-group-version-kind", model::object_node());
  put(named, "group", text_node(kind.group));
  put(named, "version", text_node(version));
  put(named, "kind", text_node(kind.name));
  return operation;
}

}  // namespace

Node openapi_index(const Registry& registry) {
  Node paths = model::object_node();
  registry.for_each([&](const Kind& kind) {
    for (const std::string& version : kind.served) {
      const std::string folder = folder_of(kind.group, version);
      Node entry = model::object_node();
      put(entry, "serverRelativeURL", text_node("/openapi/v3/" + folder));
      put(paths, folder, std::move(entry));
    }
  });
  Node document = model::object_node();
  put(document, "paths", std::move(paths));
  return document;
}

std::optional<Node> openapi_of(const Registry& registry, const std::string& group,
                               const std::string& version) {
  Node paths = model::object_node();
  registry.for_each([&](const Kind& kind) {
    if (kind.group != group || !kind.serves(version)) return;
    const std::string space = kind.is_namespaced ? "/namespaces/{namespace}" : "";
    Node path = model::object_node();
    put(path, "patch", patch_operation(kind, version));
    put(paths, "/" + folder_of(group, version) + space + "/" + kind.plural + "/{name}",
        std::move(path));
  });
  if (paths.items.empty()) return std::nullopt;
  Node document = model::object_node();
  put(document, "openapi", text_node("3.0.0"));
  Node& info = put(document, "info", model::object_node());
  put(info, "title", text_node("Kubernetes, embedded"));
  put(info, "version", text_node("v1.34.0+spillway-embedded"));
  put(document, "paths", std::move(paths));
  return document;
}

}  // namespace spillway::embedded
