// What Liqo adds to a new pod of a namespace that is offloaded: it may go to the virtual nodes that
// the namespace selects, and to no others.
#pragma once

#include "embedded/liqo/setting.h"

namespace spillway::embedded::liqo {

void let_pod_leave(const Setting& setting, model::Node& pod);

}  // namespace spillway::embedded::liqo
