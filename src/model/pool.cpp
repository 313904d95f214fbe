#include "model/pool.h"

#include "model/validation.h"

namespace spillway::model {

Status validate(const Pool& pool) {
  SPILLWAY_TRY(at("id", check_owned_id(pool.id.text)));
  SPILLWAY_TRY(under("node", validate(pool.node)));
  if (pool.node.is_zero()) return refuse("node", "a node without any resource sells nothing");
  return under("capacity", validate(pool.capacity));
}

}  // namespace spillway::model
