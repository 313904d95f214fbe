#include "embedded/liqo/kinds.h"

#include <fmt/format.h>

#include "embedded/document.h"
#include "fabric/liqo/names.h"
#include "net/ascii.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;

struct Defined {
  const fabric::liqo::Kind& kind;
  bool has_status;
};

constexpr Defined k_defined[] = {
    {fabric::liqo::k_tenants, true},
    {fabric::liqo::k_identities, true},
    {fabric::liqo::k_slices, true},
    {fabric::liqo::k_renews, true},
    {fabric::liqo::k_virtual_nodes, true},
    {fabric::liqo::k_quotas, false},
    {fabric::liqo::k_namespace_offloadings, true},
    {fabric::liqo::k_namespace_maps, true},
    {fabric::liqo::k_shadow_pods, true},
    {fabric::liqo::k_vk_templates, false},
    {fabric::liqo::k_foreign_clusters, true},
    // No services are reflected here: it is taken, and nobody acts.
    {fabric::liqo::k_shadow_slices, false},
    // Of the networking module, which is off here as in tools/realkube: likewise.
    {fabric::liqo::k_configurations, true},
    {fabric::liqo::k_gateway_servers, true},
    {fabric::liqo::k_gateway_clients, true},
    {fabric::liqo::k_public_keys, false},
    {fabric::liqo::k_connections, true},
    {fabric::liqo::k_networks, true},
    {fabric::liqo::k_addresses, true},
};

Node definition_of(const Defined& one) {
  const fabric::liqo::Kind& kind = one.kind;
  Node made = model::object_node();
  put(model::ensure(made, {"metadata"}), "name",
      text_node(fmt::format("{}.{}", kind.plural, kind.group)));
  Node& spec = model::ensure(made, {"spec"});
  put(spec, "group", text_node(kind.group));
  put(spec, "scope", text_node(kind.is_namespaced ? "Namespaced" : "Cluster"));
  Node& names = model::ensure(spec, {"names"});
  put(names, "plural", text_node(kind.plural));
  put(names, "kind", text_node(kind.kind));
  put(names, "singular", text_node(net::lower_case(std::string(kind.kind))));
  put(names, "categories", model::array_node()).items.push_back(text_node("liqo"));
  Node& version =
      put(spec, "versions", model::array_node()).items.emplace_back(model::object_node());
  put(version, "name", text_node(kind.version));
  put(version, "served", model::boolean_node(true));
  put(version, "storage", model::boolean_node(true));
  Node& schema = model::ensure(version, {"schema", "openAPIV3Schema"});
  put(schema, "type", text_node("object"));
  put(schema, "x-kubernetes-preserve-unknown-fields", model::boolean_node(true));
  if (one.has_status) model::ensure(version, {"subresources", "status"});
  return made;
}

}  // namespace

void define_kinds(Objects& objects) {
  const Kind& definitions =
      objects.registry.built_in("customresourcedefinitions", "apiextensions.k8s.io");
  for (const Defined& one : k_defined) {
    const Node definition = definition_of(one);
    (void)objects.create(definitions, definition);
    objects.registry.define(definition, objects.table.version());
  }
}

}  // namespace spillway::embedded::liqo
