#include "services/driver/renaming.h"

#include <utility>

#include "services/driver/orders.h"
#include "services/driver/state_size.h"

namespace spillway::driver {
namespace {

// Whatever has that name already counts.
template <class Kept>
void rename_peerings(std::map<std::string, Kept>& all, const std::string& from,
                     const std::string& to) {
  std::map<std::string, Kept> renamed;
  for (auto& [peering, kept] : std::exchange(all, {})) {
    std::string consumer(owner_of(peering));
    std::string provider = peering.substr(consumer.size() + 1);
    const bool is_its = consumer == from || provider == from;
    if (consumer == from) consumer = to;
    if (provider == from) provider = to;
    if (consumer == provider) continue;  // of a time when that was another cluster's name
    auto& into = is_its ? renamed : all;
    into.emplace(peering_name(consumer, provider), std::move(kept));
  }
  all.merge(renamed);
}

// One Fabric's memory over another's: what it says by Liqo ids holds whatever the names are.
void add(agent::FabricState& kept, agent::FabricState more) {
  kept.contracts.merge(more.contracts);
  kept.bought_from.merge(more.bought_from);
  kept.sold_to.merge(more.sold_to);
  kept.networks.merge(more.networks);
}

}  // namespace

std::string former_name(const DriverState& state, const std::set<std::string>& listed,
                        const std::string& liqo_id) {
  for (const auto& [name, id] : state.liqo_ids) {
    if (id == liqo_id && !listed.contains(name)) return name;
  }
  return {};
}

std::string owner_of_id(const DriverState& state, const std::set<std::string>& listed,
                        const std::string& cluster, const std::string& liqo_id) {
  const auto known = state.liqo_ids.find(cluster);
  if (known != state.liqo_ids.end() && known->second == liqo_id) return {};
  const bool was_another = known != state.liqo_ids.end();
  for (const auto& [name, id] : state.liqo_ids) {
    if (id == liqo_id && (was_another || listed.contains(name))) return name;
  }
  return {};
}

void rename(DriverState& state, const std::string& from, const std::string& to,
            const std::string& liqo_id) {
  for (auto& [name, unit] : state.units) {
    if (unit.is_gone()) continue;
    if (unit.order.consumer == from) unit.order.consumer = to;
    if (unit.order.provider == from) unit.order.provider = to;
    unit.bytes = bytes_of(unit.order);
  }
  rename_peerings(state.peerings, from, to);
  rename_peerings(state.closing, from, to);
  // By the new name it has been seen before, or has only just been begun with.
  const auto known = state.liqo_ids.find(to);
  const bool is_new = known == state.liqo_ids.end() || known->second != liqo_id;
  agent::FabricState now = std::exchange(state.fabrics[to], {});
  agent::FabricState before = std::exchange(state.fabrics[from], {});
  state.fabrics.erase(from);
  add(state.fabrics[to], std::move(is_new ? before : now));
  add(state.fabrics[to], std::move(is_new ? now : before));
  state.liqo_ids.erase(from);
  state.liqo_ids[to] = liqo_id;
}

}  // namespace spillway::driver
