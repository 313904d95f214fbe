#include "sim/fence_limits.h"

#include <fmt/format.h>

#include "fabric/fence.h"

namespace spillway::sim {
namespace {

namespace liqo = fabric::liqo;

// From when the agent looks again, what it makes counts as a renewal; then guests take their time
// to end.
const Duration k_longest = FabricParty::k_looks_within + FabricParty::k_longest_fence + seconds(10);

bool has_lease(FabricParty& provider, const FabricParty& buyer) {
  embedded::Objects& objects = provider.cluster().live().objects();
  const embedded::Kind& leases =
      objects.registry.built_in(liqo::k_leases.plural, liqo::k_leases.group);
  return objects.table.find(leases, {liqo::tenant_namespace_name(buyer.id().text),
                                     std::string(fabric::k_fence_name)}) != nullptr;
}

}  // namespace

// One that is not there for another reason than the hand is nobody's limit.
void FenceLimits::look(FabricParty& provider, const FabricParty& buyer) {
  const std::pair between{provider.id().text, buyer.id().text};
  if (has_lease(provider, buyer)) seen_[between] = world_.now();
  const auto seen = seen_.find(between);
  if (provider.has_looked() || seen == seen_.end() || seen->second == world_.now()) return;
  const std::string lease =
      fmt::format("{}/{}", liqo::tenant_namespace_name(buyer.id().text), fabric::k_fence_name);
  if (!provider.hand().has_removed_since(lease, seen->second)) return;
  anew_[between] = world_.now() + k_longest;
}

bool FenceLimits::excuses(const FabricParty& provider, const FabricParty& buyer) const {
  const auto found = anew_.find({provider.id().text, buyer.id().text});
  return found != anew_.end() && found->second > world_.now();
}

}  // namespace spillway::sim
