#include "fabric/liqo/foreign_cluster.h"

#include "fabric/liqo/part_fields.h"
#include "model/tree.h"

namespace spillway::fabric::liqo {
namespace {

constexpr Word<PeerRole> k_peer_roles[] = {{PeerRole::unknown, "Unknown"},
                                           {PeerRole::consumer, "Consumer"},
                                           {PeerRole::provider, "Provider"},
                                           {PeerRole::both, "ConsumerAndProvider"}};

}  // namespace

template <class Fields>
void fields(Fields& f, Module& m) {
  f.flag("enabled", m.enabled);
  f.parts("conditions", m.conditions);
}

template <class Fields>
void fields(Fields& f, ForeignCluster& c) {
  f.part("metadata", c.meta);
  f.needed("spec.clusterID");
  f.id("spec.clusterID", c.peer);
  f.word("status.role", c.role, k_peer_roles);
  f.text("status.apiServerUrl", c.api_server);
  f.name("status.tenantNamespace.local", c.space);
  f.name("status.tenantNamespace.remote", c.remote_space);
  f.parts("status.conditions", c.conditions);
  f.part("status.modules.authentication", c.authentication);
  f.part("status.modules.offloading", c.offloading);
  f.part("status.modules.networking", c.networking);
}

Result<ForeignCluster> read_foreign_cluster(const model::Node& object) {
  return read_object<ForeignCluster>(object);
}
model::Node to_object(const ForeignCluster& cluster) { return write_object(cluster); }

model::Node unreachable_patch(bool unreachable) {
  model::Node patch = model::object_node();
  model::put(model::ensure(patch, {"metadata", "annotations"}), k_unreachable_annotation,
             unreachable ? model::text_node("true") : model::Node{});
  return patch;
}

}  // namespace spillway::fabric::liqo
