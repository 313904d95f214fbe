// How virtual kubelets are run: Liqo's own options, as its chart has them, and what a VirtualNode
// takes from its options when it is made.
#pragma once

#include "embedded/liqo/setting.h"

namespace spillway::embedded::liqo {

void make_default_options(const Setting& setting);
// Null: there are none of that name.
ObjectPtr options_of(const Setting& setting, const model::Node& virtual_node);
// Its Deployment, of which only the arguments are kept: they are read once.
void fill_deployment(const Setting& setting, model::Node& virtual_node);

}  // namespace spillway::embedded::liqo
