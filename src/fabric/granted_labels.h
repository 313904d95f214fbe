// Labels that a provider grants with a unit, beside what was bought. Liqo puts them on the buyer's
// node, over what the offer says, and takes none away again; and no contract names them. So a
// provider may add some of its own, and nothing by which anybody is told what a node is trusted
// with or where it stands: pods that ask for that would come to whoever says it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fabric/liqo/parts.h"

namespace spillway::fabric {

// Not what Kubernetes, Liqo, the Cluster Autoscaler and we ourselves go by.
bool may_be_granted(std::string_view label);

// Granted, and other than `bought`, the labels that the unit was bought with.
std::vector<std::string> labels_beyond(const liqo::Texts& bought, const liqo::Texts& granted);
// Of what a VirtualNode has, what came in that way, also when it is granted no more. What Liqo sets
// itself is none of it.
std::vector<std::string> labels_to_remove(const liqo::Texts& bought, const liqo::Texts& granted,
                                          const liqo::Texts& seen);

}  // namespace spillway::fabric
