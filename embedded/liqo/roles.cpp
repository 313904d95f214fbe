#include "embedded/liqo/roles.h"

#include <vector>

#include "embedded/document.h"
#include "fabric/liqo/names.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;
using Words = std::vector<std::string_view>;

constexpr std::string_view k_rbac_group = "rbac.authorization.k8s.io";

Node words_node(const Words& words) {
  Node made = model::array_node();
  for (const std::string_view word : words) made.items.push_back(text_node(word));
  return made;
}

struct RoleRule {
  std::string_view group;
  Words resources;
  Words verbs;
};

Node role_node(std::string_view name, const std::vector<RoleRule>& rules) {
  Node role = model::object_node();
  put(model::ensure(role, {"metadata"}), "name", text_node(name));
  Node& list = put(role, "rules", model::array_node());
  for (const RoleRule& one : rules) {
    Node& rule = list.items.emplace_back(model::object_node());
    put(rule, "apiGroups", words_node({one.group}));
    put(rule, "resources", words_node(one.resources));
    put(rule, "verbs", words_node(one.verbs));
  }
  return role;
}

}  // namespace

void make_roles(Objects& objects) {
  const Kind& roles = objects.registry.built_in("clusterroles", k_rbac_group);
  const Words all = {"get", "list", "watch", "create", "update", "patch", "delete"};
  const Words own = {"get", "update", "patch"};
  namespace names = fabric::liqo;
  (void)objects.create(
      roles, role_node(k_tenant_role,
                       {{names::k_authentication, {"resourceslices", "renews"}, all},
                        {names::k_authentication, {"resourceslices/status", "renews/status"}, own},
                        {names::k_offloading, {"namespacemaps"}, all},
                        {names::k_offloading, {"namespacemaps/status"}, own}}));
  (void)objects.create(roles, role_node(k_guest_role, {{names::k_offloading, {"shadowpods"}, all},
                                                       {"", {"pods"}, {"get", "list", "watch"}},
                                                       {"", {"secrets", "configmaps"}, all}}));
}

void bind_role(Objects& objects, const Key& key, std::string_view role, std::string_view kind,
               std::string_view subject) {
  const Kind& bindings = objects.registry.built_in("rolebindings", k_rbac_group);
  if (objects.table.find(bindings, key) != nullptr) return;
  Node binding = model::object_node();
  Node& metadata = model::ensure(binding, {"metadata"});
  put(metadata, "name", text_node(key.name));
  put(metadata, "namespace", text_node(key.space));
  Node& reference = model::ensure(binding, {"roleRef"});
  put(reference, "apiGroup", text_node(k_rbac_group));
  put(reference, "kind", text_node("ClusterRole"));
  put(reference, "name", text_node(role));
  Node& to = put(binding, "subjects", model::array_node()).items.emplace_back(model::object_node());
  put(to, "apiGroup", text_node(k_rbac_group));
  put(to, "kind", text_node(kind));
  put(to, "name", text_node(subject));
  (void)objects.create(bindings, std::move(binding));
}

void unbind_role(Objects& objects, const Key& binding) {
  (void)objects.remove(objects.registry.built_in("rolebindings", k_rbac_group), binding);
}

}  // namespace spillway::embedded::liqo
