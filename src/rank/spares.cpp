#include "rank/spares.h"

#include <algorithm>

namespace spillway::rank {

std::vector<SpareChange> plan_spares(const Spares& policy, std::span<const OfferId> best,
                                     const SpareSight& sight) {
  std::map<OfferId, int32_t> wanted;
  int32_t room = sight.unused >= policy.idle ? 0 : policy.unready - sight.others_unready;
  const size_t groups = std::min(best.size(), static_cast<size_t>(std::max(policy.groups, 0)));
  for (const OfferId& group : best.first(groups)) {
    const int32_t units = std::clamp(policy.units, 0, std::max(room, 0));
    if (units > 0) wanted[group] = units;
    room -= units;
  }
  std::vector<SpareChange> changes;
  // What is given back makes room, so it comes first.
  for (const auto& [group, kept] : sight.kept) {
    const auto it = wanted.find(group);
    const int32_t most = it == wanted.end() ? 0 : it->second;
    if (kept > most) changes.push_back({group, most - kept});
  }
  for (const auto& [group, units] : wanted) {
    const auto it = sight.kept.find(group);
    const int32_t kept = it == sight.kept.end() ? 0 : it->second;
    if (kept < units) changes.push_back({group, units - kept});
  }
  return changes;
}

}  // namespace spillway::rank
