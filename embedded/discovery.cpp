#include "embedded/discovery.h"

#include <algorithm>
#include <map>
#include <set>

#include "embedded/api.h"
#include "embedded/openapi.h"
#include "model/tree.h"

namespace spillway::embedded {
namespace {

using model::Node;
using model::put;
using model::text_node;
using Names = std::vector<std::string>;

Node names_node(const Names& names) {
  Node list = model::array_node();
  for (const std::string& name : names) list.items.push_back(text_node(name));
  return list;
}

Node begin(std::string_view kind, std::string_view version = "v1") {
  Node document = model::object_node();
  put(document, "kind", text_node(kind));
  put(document, "apiVersion", text_node(version));
  return document;
}

Node resource_node(const Kind& kind) {
  Node resource = model::object_node();
  put(resource, "name", text_node(kind.plural));
  put(resource, "singularName", text_node(kind.singular));
  put(resource, "namespaced", model::boolean_node(kind.is_namespaced));
  put(resource, "kind", text_node(kind.name));
  static const Names k_all = {"create", "delete", "deletecollection", "get",
                              "list",   "patch",  "update",           "watch"};
  put(resource, "verbs", names_node(kind.is_question ? Names{"create"} : k_all));
  if (!kind.short_names.empty()) put(resource, "shortNames", names_node(kind.short_names));
  if (!kind.categories.empty()) put(resource, "categories", names_node(kind.categories));
  return resource;
}

Node subresource_node(const Kind& kind, const std::string& name) {
  struct Special {
    std::string_view name, group, version, kind;
    Names verbs;
  };
  static const std::vector<Special> k_special = {
      {"eviction", "policy", "v1", "Eviction", {"create"}},
      {"binding", "", "", "Binding", {"create"}},
      {"token", "authentication.k8s.io", "v1", "TokenRequest", {"create"}},
      {"scale", "autoscaling", "v1", "Scale", {"get", "patch", "update"}},
      {"finalize", "", "", "Namespace", {"update"}},
  };
  Node resource = model::object_node();
  put(resource, "name", text_node(kind.plural + "/" + name));
  put(resource, "singularName", text_node(""));
  put(resource, "namespaced", model::boolean_node(kind.is_namespaced));
  const auto found = std::find_if(k_special.begin(), k_special.end(),
                                  [&](const Special& one) { return one.name == name; });
  if (found == k_special.end()) {
    put(resource, "kind", text_node(kind.name));
    put(resource, "verbs", names_node({"get", "patch", "update"}));
    return resource;
  }
  if (!found->group.empty()) put(resource, "group", text_node(found->group));
  if (!found->version.empty()) put(resource, "version", text_node(found->version));
  put(resource, "kind", text_node(found->kind));
  put(resource, "verbs", names_node(found->verbs));
  return resource;
}

std::optional<Node> resources(const Registry& registry, const std::string& group,
                              const std::string& version) {
  Node list = model::array_node();
  registry.for_each([&](const Kind& kind) {
    if (kind.group != group || !kind.serves(version)) return;
    list.items.push_back(resource_node(kind));
    for (const std::string& name : kind.subresources) {
      list.items.push_back(subresource_node(kind, name));
    }
  });
  if (list.items.empty()) return std::nullopt;
  Node document = begin("APIResourceList");
  put(document, "groupVersion", text_node(group.empty() ? version : group + "/" + version));
  put(document, "resources", std::move(list));
  return document;
}

Node version_node(const std::string& group, const std::string& version) {
  Node node = model::object_node();
  put(node, "groupVersion", text_node(group + "/" + version));
  put(node, "version", text_node(version));
  return node;
}

Node group_node(const std::string& group, const Names& versions) {
  Node node = model::object_node();
  put(node, "name", text_node(group));
  Node& list = put(node, "versions", model::array_node());
  for (const std::string& version : versions) {
    list.items.push_back(version_node(group, version));
  }
  put(node, "preferredVersion", version_node(group, versions.front()));
  return node;
}

std::map<std::string, Names> groups_of(const Registry& registry) {
  std::map<std::string, Names> groups;
  registry.for_each([&](const Kind& kind) {
    Names& versions = groups[kind.group];
    for (const std::string& version : kind.served) {
      if (std::find(versions.begin(), versions.end(), version) == versions.end()) {
        versions.push_back(version);
      }
    }
  });
  groups.erase("");
  return groups;
}

Node core_versions() {
  Node document = model::object_node();
  put(document, "kind", text_node("APIVersions"));
  put(document, "versions", names_node({"v1"}));
  put(document, "serverAddressByClientCIDRs", model::array_node());
  return document;
}

Node group_list(const Registry& registry) {
  Node document = begin("APIGroupList");
  Node& list = put(document, "groups", model::array_node());
  for (const auto& [group, versions] : groups_of(registry)) {
    list.items.push_back(group_node(group, versions));
  }
  return document;
}

std::optional<Node> one_group(const Registry& registry, const std::string& name) {
  const auto groups = groups_of(registry);
  const auto found = groups.find(name);
  if (found == groups.end()) return std::nullopt;
  Node document = begin("APIGroup");
  for (Node& member : group_node(name, found->second).items) {
    put(document, member.key, member);
  }
  return document;
}

// It says that it is embedded: nobody shall take it for the real thing.
Node version_document() {
  Node document = model::object_node();
  put(document, "major", text_node("1"));
  put(document, "minor", text_node("34"));
  put(document, "gitVersion", text_node("v1.34.0+spillway-embedded"));
  put(document, "gitTreeState", text_node("clean"));
  put(document, "platform", text_node("embedded"));
  return document;
}

std::optional<Node> description_at(const Registry& registry, const Names& path) {
  if (path.size() < 2 || path[1] != "v3") return std::nullopt;
  if (path.size() == 2) return openapi_index(registry);
  if (path.size() == 4 && path[2] == "api") return openapi_of(registry, "", path[3]);
  if (path.size() == 5 && path[2] == "apis") return openapi_of(registry, path[3], path[4]);
  return std::nullopt;
}

std::optional<Node> document_at(const Registry& registry, const Names& path) {
  const std::string& first = path[0];
  if (first == "version" && path.size() == 1) return version_document();
  if (first == "openapi") return description_at(registry, path);
  if (first == "api" && path.size() == 1) return core_versions();
  if (first == "api" && path.size() == 2) return resources(registry, "", path[1]);
  if (first == "apis" && path.size() == 1) return group_list(registry);
  if (first == "apis" && path.size() == 2) return one_group(registry, path[1]);
  if (first == "apis" && path.size() == 3) return resources(registry, path[1], path[2]);
  return std::nullopt;
}

}  // namespace

std::optional<Reply> discover(const Registry& registry, const Ask& ask) {
  const Names& path = ask.target.segments;
  if (path.empty() || ask.verb != "get") return std::nullopt;
  if (path[0] == "healthz" || path[0] == "livez" || path[0] == "readyz") {
    return Reply{200, "ok", "text/plain; charset=utf-8"};
  }
  const auto document = document_at(registry, path);
  if (!document) return std::nullopt;
  return Reply{200, model::to_json(*document) + "\n"};
}

}  // namespace spillway::embedded
