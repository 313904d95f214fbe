// How virtual kubelets are run: Liqo's own options, as its chart has them, and what a VirtualNode
// takes from its options when it is made.
#pragma once

#include "embedded/liqo/setting.h"

namespace spillway::embedded::liqo {

void make_default_options(const Setting& setting);
// Null: there are none of that name.
ObjectPtr options_of(const Setting& setting, const model::Node& virtual_node);
// Liqo's webhook looks for them at every write of a VirtualNode but of its status, Liqo's own
// included: without them it gets no finalizer, no grant, and no end.
inline bool has_options(const Setting& setting, const model::Node& virtual_node) {
  return options_of(setting, virtual_node) != nullptr;
}
// Its Deployment, of which only the arguments are kept: they are read once.
void fill_deployment(const Setting& setting, model::Node& virtual_node);

}  // namespace spillway::embedded::liqo
