// Mending: what somebody has edited of a unit's objects is put right, and told. What others add
// stays, for Liqo adds things, too; what is missing of ours, or says something else, comes back.
#pragma once

#include <string>

#include "fabric/deed.h"
#include "fabric/liqo/handshake.h"
#include "fabric/liqo/slice.h"
#include "fabric/liqo/virtual_node.h"

namespace spillway::fabric {

void mend_slice(const liqo::Slice& wanted, const liqo::Slice& seen, Plan& plan);
// What Liqo believes of a buyer; its key, and the proxy by which it comes, are looked at elsewhere.
void mend_tenant(const liqo::Tenant& wanted, const liqo::Tenant& seen, Plan& plan);
// Of one that cannot be read whole: what it says in labels alone, for that is what others go by.
void mend_virtual_node(const liqo::VirtualNode& wanted, const liqo::VirtualNode& seen, Plan& plan);
// Of one whose offer is not known (any more): labels are taken away that are granted and not free.
void strip_virtual_node(const liqo::VirtualNode& seen, const liqo::Texts& granted, Plan& plan);

// What is granted, where that is something else than was agreed on: "cpu 1500m of 2000m". Empty:
// all of it, or nothing at all, which is how a grant begins and ends.
std::string misgranted(const liqo::Amounts& agreed, const liqo::Amounts& granted);

}  // namespace spillway::fabric
