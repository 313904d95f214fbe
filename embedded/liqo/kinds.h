// Liqo's kinds, as its custom resource definitions: a cluster that has them lists them like any
// other. Their schemas are left out; what of them matters is checked at admission.
#pragma once

#include "embedded/objects.h"

namespace spillway::embedded::liqo {

// At once, so that the rest of Liqo finds its kinds.
void define_kinds(Objects& objects);

}  // namespace spillway::embedded::liqo
