// A cluster of another name. Its name is its operator's word in driver.yaml; what it is, its Liqo
// id says. Whatever is kept of a cluster that is listed by another name now goes on by that: else
// its old name would stay in sight for ever, and its Fabric would begin with no memory of its
// peers. Units are ordered by name, so a name that any live by stays (Driver::start). Pure.
#pragma once

#include <set>
#include <string>

#include "services/driver/driver_state.h"

namespace spillway::driver {

// A name that is not `listed` any more, of the cluster with that Liqo id; empty: there is none.
std::string former_name(const DriverState& state, const std::set<std::string>& listed,
                        const std::string& liqo_id);

// Ids are clusters' own claims, by which nobody takes over another's peerings: the name of another
// cluster that has this one, while that is listed, or if the one that claims it was here by another
// id. Empty: it may have it. It holds as long as the claim: nothing is kept of one that is refused.
std::string owner_of_id(const DriverState& state, const std::set<std::string>& listed,
                        const std::string& cluster, const std::string& liqo_id);

// Units that are gone keep the name that they were ordered by. `liqo_id`: of both.
void rename(DriverState& state, const std::string& from, const std::string& to,
            const std::string& liqo_id);

}  // namespace spillway::driver
