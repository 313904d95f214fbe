#include "fabric/liqo/cluster_objects.h"

#include "fabric/liqo/part_fields.h"

namespace spillway::fabric::liqo {

template <class Fields>
void fields(Fields& f, Space& s) {
  f.part("metadata", s.meta);
}

Result<Space> read_space(const model::Node& object) { return read_object<Space>(object); }
model::Node to_object(const Space& space) { return write_object(space); }

}  // namespace spillway::fabric::liqo
