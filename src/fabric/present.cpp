#include "fabric/present.h"

namespace spillway::fabric {
namespace {

struct Present {
  std::string space;
  std::vector<Place> all = {};

  void add(const liqo::Kind& kind, std::string_view name) {
    all.push_back({kind, space, std::string(name)});
  }
  template <class T>
  void add(const liqo::Kind& kind, const std::optional<T>& seen) {
    if (seen && seen->meta.deleted.empty()) add(kind, seen->meta.name);
  }
};

// Without its slice a unit ends.
void add_unit(Present& p, const std::string& name, const BoughtSight& seen) {
  if (!seen.slice || !seen.slice->meta.deleted.empty()) return;
  p.add(liqo::k_slices, seen.slice);
  if (!seen.virtual_node || !seen.virtual_node->meta.deleted.empty()) return;
  p.add(liqo::k_virtual_nodes, seen.virtual_node);
  if (seen.node) p.all.push_back({liqo::k_nodes, {}, name});
}

}  // namespace

std::vector<Place> present(const std::string& provider, const BuyerSight& sight) {
  Present p{liqo::tenant_namespace_name(provider)};
  if (sight.has_space) p.all.push_back({liqo::k_namespaces, {}, p.space});
  p.add(liqo::k_identities, sight.identity);
  for (const auto& [name, seen] : sight.units) add_unit(p, name, seen);
  return std::move(p.all);
}

std::vector<Place> present(const std::string& buyer, const SellerSight& sight) {
  Present p{liqo::tenant_namespace_name(buyer)};
  if (sight.has_space) p.all.push_back({liqo::k_namespaces, {}, p.space});
  p.add(liqo::k_tenants, sight.tenant);
  if (sight.record) p.add(liqo::k_config_maps, k_record_name);
  if (sight.nonce) p.add(liqo::k_secrets, liqo::k_nonce_secret);
  if (sight.fence.lease) p.add(liqo::k_leases, k_fence_name);
  if (sight.fence.role != Right::absent) p.add(liqo::k_roles, k_fence_name);
  if (sight.fence.binding != Right::absent) p.add(liqo::k_role_bindings, k_fence_name);
  return std::move(p.all);
}

}  // namespace spillway::fabric
