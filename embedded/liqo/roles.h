// What Liqo's tenants may do, as Role objects: the cluster's own access rules enforce them.
#pragma once

#include <string>
#include <string_view>

#include "embedded/objects.h"

namespace spillway::embedded::liqo {

// A control plane, in its tenant namespace; a unit's virtual kubelet, in the namespaces of guests.
inline constexpr std::string_view k_tenant_role = "liqo-remote-controlplane";
inline constexpr std::string_view k_guest_role = "liqo-virtual-kubelet-remote";
inline constexpr std::string_view k_tenant_binding = "liqo-binding-liqo-remote-controlplane";
inline constexpr std::string_view k_guest_binding = "liqo-binding-liqo-virtual-kubelet-remote";

void make_roles(Objects& objects);

// `subject` is of that kind: "User" or "Group".
void bind_role(Objects& objects, const Key& binding, std::string_view role, std::string_view kind,
               std::string_view subject);
void unbind_role(Objects& objects, const Key& binding);

}  // namespace spillway::embedded::liqo
