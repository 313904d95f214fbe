// Standing: whether somebody has rights in a cluster by name. A buyer chooses its Liqo id itself,
// and Liqo makes it a user and a group at the provider: an id that the provider's own people have
// as a group would bring their rights with it. So before a buyer becomes a tenant, its id must be
// nobody there.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/node.h"

namespace spillway::fabric::liqo {

// `bindings`: RoleBindings and ClusterRoleBindings as an API server has them, all of them. Those
// that Liqo makes for its tenants do not count. Denied: one of the others names the id.
Status check_has_no_standing(std::string_view buyer, const std::vector<model::Node>& bindings);

}  // namespace spillway::fabric::liqo
