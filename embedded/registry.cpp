#include "embedded/registry.h"

#include <algorithm>

#include "base/check.h"
#include "model/tree.h"
#include "net/ascii.h"

namespace spillway::embedded {
namespace {

using model::Node;
using Names = std::vector<std::string>;

Kind pods() {
  return {.group = "",
          .version = "v1",
          .plural = "pods",
          .name = "Pod",
          .short_names = {"po"},
          .categories = {"all"},
          .subresources = {"status", "binding", "eviction", "ephemeralcontainers"},
          .counts_generation = true,
          .returns_deleted = true};
}

std::vector<Kind> core_kinds() {
  return {
      pods(),
      {.group = "",
       .version = "v1",
       .plural = "nodes",
       .name = "Node",
       .short_names = {"no"},
       .subresources = {"status"},
       .is_namespaced = false},
      {.group = "",
       .version = "v1",
       .plural = "namespaces",
       .name = "Namespace",
       .short_names = {"ns"},
       .subresources = {"status", "finalize"},
       .is_namespaced = false,
       .returns_deleted = true},
      {.group = "", .version = "v1", .plural = "secrets", .name = "Secret"},
      {.group = "",
       .version = "v1",
       .plural = "configmaps",
       .name = "ConfigMap",
       .short_names = {"cm"}},
      {.group = "",
       .version = "v1",
       .plural = "services",
       .name = "Service",
       .short_names = {"svc"},
       .categories = {"all"},
       .subresources = {"status"},
       .creates_on_update = true,
       .returns_deleted = true},
      {.group = "",
       .version = "v1",
       .plural = "serviceaccounts",
       .name = "ServiceAccount",
       .short_names = {"sa"},
       .subresources = {"token"},
       .returns_deleted = true},
      {.group = "",
       .version = "v1",
       .plural = "events",
       .name = "Event",
       .short_names = {"ev"},
       .creates_on_update = true},
      {.group = "",
       .version = "v1",
       .plural = "resourcequotas",
       .name = "ResourceQuota",
       .short_names = {"quota"},
       .subresources = {"status"},
       .returns_deleted = true},
      {.group = "",
       .version = "v1",
       .plural = "limitranges",
       .name = "LimitRange",
       .short_names = {"limits"},
       .creates_on_update = true},
  };
}

std::vector<Kind> named_group_kinds() {
  const std::string rbac = "rbac.authorization.k8s.io";
  return {
      {.group = "apps",
       .version = "v1",
       .plural = "deployments",
       .name = "Deployment",
       .short_names = {"deploy"},
       .categories = {"all"},
       .subresources = {"status", "scale"},
       .counts_generation = true},
      {.group = "apps",
       .version = "v1",
       .plural = "replicasets",
       .name = "ReplicaSet",
       .short_names = {"rs"},
       .categories = {"all"},
       .subresources = {"status", "scale"},
       .counts_generation = true},
      {.group = "coordination.k8s.io",
       .version = "v1",
       .plural = "leases",
       .name = "Lease",
       .needs_version = true,
       .creates_on_update = true},
      {.group = "networking.k8s.io",
       .version = "v1",
       .plural = "networkpolicies",
       .name = "NetworkPolicy",
       .short_names = {"netpol"},
       .counts_generation = true},
      {.group = "policy",
       .version = "v1",
       .plural = "poddisruptionbudgets",
       .name = "PodDisruptionBudget",
       .short_names = {"pdb"},
       .subresources = {"status"},
       .counts_generation = true,
       .needs_version = true},
      {.group = "apiextensions.k8s.io",
       .version = "v1",
       .plural = "customresourcedefinitions",
       .name = "CustomResourceDefinition",
       .short_names = {"crd", "crds"},
       .categories = {"api-extensions"},
       .subresources = {"status"},
       .is_namespaced = false,
       .counts_generation = true,
       .needs_version = true},
      {.group = "authorization.k8s.io",
       .version = "v1",
       .plural = "selfsubjectaccessreviews",
       .name = "SelfSubjectAccessReview",
       .is_namespaced = false,
       .is_question = true},
      {.group = rbac,
       .version = "v1",
       .plural = "roles",
       .name = "Role",
       .creates_on_update = true},
      {.group = rbac,
       .version = "v1",
       .plural = "rolebindings",
       .name = "RoleBinding",
       .creates_on_update = true},
      {.group = rbac,
       .version = "v1",
       .plural = "clusterroles",
       .name = "ClusterRole",
       .is_namespaced = false,
       .creates_on_update = true},
      {.group = rbac,
       .version = "v1",
       .plural = "clusterrolebindings",
       .name = "ClusterRoleBinding",
       .is_namespaced = false,
       .creates_on_update = true},
  };
}

Names texts_at(const Node& root, model::Path path) {
  Names names;
  for (const Node& item : model::items_at(root, path)) names.push_back(item.text);
  return names;
}

// Which versions are served, which is stored, and whether it has a status of its own there.
void read_versions(Kind& kind, const Node& definition) {
  kind.served.clear();
  kind.subresources.clear();
  for (const Node& version : model::items_at(definition, {"spec", "versions"})) {
    const std::string name(model::text_at(version, {"name"}));
    if (model::boolean_at(version, {"storage"})) kind.version = name;
    if (model::boolean_at(version, {"served"})) kind.served.push_back(name);
    if (model::look(version, {"subresources", "status"}) != nullptr && !kind.has("status")) {
      kind.subresources.emplace_back("status");
    }
  }
}

}  // namespace

bool Kind::has(std::string_view subresource) const {
  return std::find(subresources.begin(), subresources.end(), subresource) != subresources.end();
}

bool Kind::serves(std::string_view wanted) const {
  return std::find(served.begin(), served.end(), wanted) != served.end();
}

Registry::Registry() {
  for (Kind& kind : core_kinds()) add(std::move(kind));
  for (Kind& kind : named_group_kinds()) add(std::move(kind));
}

Kind& Registry::add(Kind kind) {
  if (kind.singular.empty()) kind.singular = net::lower_case(kind.name);
  if (kind.served.empty()) kind.served = {kind.version};
  kind.number = kinds_.size();
  return *kinds_.emplace_back(std::make_unique<Kind>(std::move(kind)));
}

const Kind* Registry::find(std::string_view group, std::string_view version,
                           std::string_view plural) const {
  for (const auto& kind : kinds_) {
    if (kind->is_served && kind->plural == plural && kind->group == group &&
        kind->serves(version)) {
      return kind.get();
    }
  }
  return nullptr;
}

const Kind* Registry::find_named(std::string_view group, std::string_view name) const {
  for (const auto& kind : kinds_) {
    if (kind->is_served && kind->name == name && kind->group == group) return kind.get();
  }
  return nullptr;
}

const Kind& Registry::built_in(std::string_view plural, std::string_view group) const {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& kind) {
    return kind->plural == plural && kind->group == group;
  });
  SPILLWAY_CHECK(found != kinds_.end(), "no such built-in kind");
  return **found;
}

const Kind& Registry::define(const Node& definition, int64_t version) {
  const std::string_view group = model::text_at(definition, {"spec", "group"});
  const std::string_view plural = model::text_at(definition, {"spec", "names", "plural"});
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& kind) {
    return kind->plural == plural && kind->group == group;
  });
  if (found == kinds_.end()) {
    Kind kind{.group = std::string(group),
              .version = "",
              .plural = std::string(plural),
              .name = std::string(model::text_at(definition, {"spec", "names", "kind"}))};
    kind.is_custom = kind.counts_generation = kind.needs_version = true;
    kind.begins = version;
    return define(add(std::move(kind)), definition);
  }
  if (!(*found)->is_served) (*found)->begins = version;
  return define(**found, definition);
}

const Kind& Registry::define(Kind& kind, const Node& definition) {
  kind.is_namespaced = model::text_at(definition, {"spec", "scope"}) != "Cluster";
  kind.short_names = texts_at(definition, {"spec", "names", "shortNames"});
  kind.categories = texts_at(definition, {"spec", "names", "categories"});
  kind.is_served = true;
  read_versions(kind, definition);
  return kind;
}

void Registry::withdraw(std::string_view group, std::string_view plural) {
  for (const auto& kind : kinds_) {
    if (kind->is_custom && kind->plural == plural && kind->group == group) kind->is_served = false;
  }
}

}  // namespace spillway::embedded
