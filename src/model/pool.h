// Pool: nodes of one shape that a cluster sells from.
//
// `capacity` is gross: allocatable − the owner's own pods − headroom. Guests are not subtracted;
// the broker alone subtracts what it sold. No offer is larger than one `node`.
#pragma once

#include "base/ids.h"
#include "model/resources.h"

namespace spillway::model {

struct Pool {
  PoolId id;
  Resources node;      // one node of it
  Resources capacity;  // all of it together
  bool operator==(const Pool&) const = default;
};

Status validate(const Pool& pool);

}  // namespace spillway::model
