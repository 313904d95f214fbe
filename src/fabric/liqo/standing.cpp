#include "fabric/liqo/standing.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "fabric/fence.h"
#include "fabric/liqo/guard.h"
#include "fabric/liqo/names.h"
#include "model/tree.h"

namespace spillway::fabric::liqo {
namespace {

// Or ours (fabric/fence.h). By where it is and what it gives: names and labels of a binding are for
// anybody to choose.
bool is_of_liqo(const model::Node& binding, std::string_view buyer) {
  const auto role = model::text_at(binding, {"roleRef", "name"});
  const auto space = model::text_at(binding, {"metadata", "namespace"});
  if (space.empty()) return role == "liqo-virtual-kubelet-remote-clusterwide";
  if (space == tenant_namespace_name(buyer)) {
    return role == "liqo-remote-controlplane" || role == k_fence_name;
  }
  return space.starts_with(guest_space_prefix(buyer)) && role == "liqo-virtual-kubelet-remote";
}

bool names(const model::Node& binding, std::string_view buyer) {
  const auto& subjects = model::items_at(binding, {"subjects"});
  return std::any_of(subjects.begin(), subjects.end(), [buyer](const model::Node& subject) {
    const auto kind = model::text_at(subject, {"kind"});
    return (kind == "User" || kind == "Group") && model::text_at(subject, {"name"}) == buyer;
  });
}

}  // namespace

Status check_has_no_standing(std::string_view buyer, const std::vector<model::Node>& bindings) {
  for (const model::Node& one : bindings) {
    if (!names(one, buyer) || is_of_liqo(one, buyer)) continue;
    const auto space = model::text_at(one, {"metadata", "namespace"});
    const std::string at = fmt::format("{}{}{}", space, space.empty() ? "" : "/",
                                       model::text_at(one, {"metadata", "name"}));
    // Kubernetes takes nearly any name for these.
    return fail(Code::denied, fmt::format("buyer {}", buyer),
                fmt::format("its Liqo id has rights here already, by the {} {}",
                            space.empty() ? "ClusterRoleBinding" : "RoleBinding",
                            is_printable(at) ? at : in_quotes(at)),
                "call that user or group otherwise, or let the buyer take another id");
  }
  return {};
}

}  // namespace spillway::fabric::liqo
