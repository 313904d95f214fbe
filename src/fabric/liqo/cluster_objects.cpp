#include "fabric/liqo/cluster_objects.h"

#include "fabric/liqo/part_fields.h"

namespace spillway::fabric::liqo {

template <class Fields>
void fields(Fields& f, UnitNode& n) {
  f.part("metadata", n.meta);
  f.text("spec.providerID", n.provider_id);
  f.flag("spec.unschedulable", n.cordoned);
  f.parts("spec.taints", n.taints);
  f.amounts("status.allocatable", n.allocatable);
  f.parts("status.conditions", n.conditions);
}

template <class Fields>
void fields(Fields& f, Space& s) {
  f.part("metadata", s.meta);
}

Result<UnitNode> read_unit_node(const model::Node& object) { return read_object<UnitNode>(object); }
model::Node to_object(const UnitNode& node) { return write_object(node); }

Result<Space> read_space(const model::Node& object) { return read_object<Space>(object); }
model::Node to_object(const Space& space) { return write_object(space); }

}  // namespace spillway::fabric::liqo
