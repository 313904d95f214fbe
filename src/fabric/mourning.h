// Mourning: what a dead provider's unit gets and loses, one look at a time (fabric/death.h).
#pragma once

#include <string>

#include "fabric/buyer.h"

namespace spillway::fabric {

// All pods of its node.
bool is_known(const BoughtSight& seen);
// When the provider has stopped that pod, if it has an identity.
Instant stopped_by(const ProviderLife& life, Duration fence, const PodSight& pod);
// When it has stopped all that end at once.
Instant fence_over(const ProviderLife& life, Duration fence);

// Taints of its node, tolerations of its pods, the end of those whose time has come. True:
// something with identity may still run there.
bool mourn(const ProviderLife& life, const std::string& unit, Duration fence,
           const BoughtSight& seen, Instant now, Plan& plan);
// It is alive: the node is as any other.
void lift(const std::string& unit, const BoughtSight& seen, Instant now, Plan& plan);
// Nobody will say of these that they have ended. True: there are some, or it is not known.
bool force_out(const BoughtSight& seen, Plan& plan);

}  // namespace spillway::fabric
