#include "fabric/liqo/namespaces.h"

#include "fabric/liqo/part_fields.h"

namespace spillway::fabric::liqo {
namespace {

constexpr Word<Mapping> k_mappings[] = {{Mapping::default_name, "DefaultName"},
                                        {Mapping::same_name, "EnforceSameName"},
                                        {Mapping::selected_name, "SelectedName"}};
constexpr Word<Placement> k_placements[] = {{Placement::local_and_remote, "LocalAndRemote"},
                                            {Placement::local, "Local"},
                                            {Placement::remote, "Remote"}};

}  // namespace

template <class Fields>
void fields(Fields& f, Requirement& r) {
  f.needed("key");
  f.text("key", r.key);
  f.text("operator", r.relation);
  f.list("values", r.values);
}

template <class Fields>
void fields(Fields& f, SelectorTerm& t) {
  f.parts("matchExpressions", t.requirements);
}

template <class Fields>
void fields(Fields& f, NamespaceOffloading& o) {
  f.part("metadata", o.meta);
  f.word("spec.namespaceMappingStrategy", o.mapping, k_mappings);
  f.name("spec.remoteNamespaceName", o.remote_name);
  f.word("spec.podOffloadingStrategy", o.placement, k_placements);
  f.parts("spec.clusterSelector.nodeSelectorTerms", o.selector);
  f.text("status.offloadingPhase", o.phase);
  f.name("status.remoteNamespaceName", o.remote_space);
  f.number("status.observedGeneration", o.observed_generation);
}

template <class Fields>
void fields(Fields& f, MappedNamespace& m) {
  f.name("remoteNamespace", m.remote);
  f.text("phase", m.phase);
}

template <class Fields>
void fields(Fields& f, NamespaceMap& m) {
  f.part("metadata", m.meta);
  f.texts("spec.desiredMapping", m.wanted);
  f.parts("status.currentMapping", m.there);
}

NamespaceOffloading new_offloading(std::string_view space, std::string_view remote_name) {
  NamespaceOffloading made;
  made.meta.name = k_offloading_name;
  made.meta.space = space;
  made.mapping = Mapping::selected_name;
  made.remote_name = remote_name;
  // Without any selector Liqo never finds a cluster.
  made.selector = {{{{std::string(k_peer_label), "Exists", {}}}}};
  return made;
}

Result<NamespaceOffloading> read_namespace_offloading(const model::Node& object) {
  return read_object<NamespaceOffloading>(object);
}
model::Node to_object(const NamespaceOffloading& offloading) { return write_object(offloading); }

Result<NamespaceMap> read_namespace_map(const model::Node& object) {
  return read_object<NamespaceMap>(object);
}
model::Node to_object(const NamespaceMap& map) { return write_object(map); }

}  // namespace spillway::fabric::liqo
