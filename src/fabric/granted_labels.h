// Labels that a provider grants with a unit, beside what was bought. Liqo puts them on the buyer's
// node, over what the offer says, and takes none away again; and no contract names them. So a
// provider may add some of its own, and nothing by which anybody is told what a node is trusted
// with or where it stands (model::is_free_label): pods that ask for that would come to whoever
// says it.
#pragma once

#include <string>
#include <vector>

#include "fabric/liqo/parts.h"

namespace spillway::fabric {

// What a virtual kubelet says of its node by itself. A label that is taken out of the VirtualNode
// goes from the node, too, until the kubelet starts again: these are put right instead.
liqo::Texts said_by_kubelet(const std::string& unit);

// Keys that are granted and are neither free nor as they were bought.
std::vector<std::string> labels_beyond(const liqo::Texts& bought, const liqo::Texts& granted);

// Keys that a VirtualNode has and must not: neither free nor bought, granted or granted once.
std::vector<std::string> labels_to_remove(const liqo::Texts& bought, const liqo::Texts& seen);

}  // namespace spillway::fabric
