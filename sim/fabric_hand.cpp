#include "sim/fabric_hand.h"

#include "fabric/buyer.h"
#include "fabric/fence.h"
#include "fabric/liqo/slice.h"
#include "fabric/liqo/vk_options.h"
#include "fabric/record.h"
#include "model/tree.h"

namespace spillway::sim {
namespace {

namespace liqo = fabric::liqo;
using embedded::ObjectPtr;

constexpr std::string_view k_edited = "ZWRpdGVk";  // also where base64 is expected

// In a tenant namespace: not what Liqo has made for itself.
bool is_ours(const liqo::Kind& kind, std::string_view name) {
  if (kind.plural == liqo::k_config_maps.plural) return name == fabric::k_record_name;
  if (kind.plural == liqo::k_leases.plural) return name == fabric::k_fence_name;
  if (kind.plural == liqo::k_vk_templates.plural) {
    return liqo::leaving_of_template(name).has_value();
  }
  if (kind.plural == liqo::k_secrets.plural) return name == liqo::k_nonce_secret;
  if (kind.plural == liqo::k_identities.plural) return name.starts_with("controlplane-");
  const bool is_right =
      kind.plural == liqo::k_roles.plural || kind.plural == liqo::k_role_bindings.plural;
  return !is_right || name == fabric::k_fence_name;
}

bool is_tenants(const embedded::Key& key) { return key.space.starts_with("liqo-tenant-"); }
bool names_unit(const std::string& name) { return name.starts_with("sw-"); }

bool is_removable(const liqo::Kind& kind, const embedded::Key& key) {
  const bool is_in_no_tenants = kind.plural == liqo::k_foreign_clusters.plural ||
                                kind.plural == liqo::k_namespace_offloadings.plural;
  return is_in_no_tenants || (is_tenants(key) && is_ours(kind, key.name));
}

}  // namespace

std::string text_in(const model::Node& document, const std::vector<std::string>& path) {
  const model::Node* at = &document;
  for (const std::string& key : path) {
    at = at->find(key);
    if (at == nullptr) return {};
  }
  return at->text;
}

const embedded::Kind& FabricHand::kind_of(const liqo::Kind& named) {
  return cluster_.live().objects().registry.built_in(named.plural, named.group);
}

bool FabricHand::has_removed_since(const std::string& name, Instant time) const {
  const auto found = removed_.find(name);
  return found != removed_.end() && found->second >= time;
}

bool FabricHand::has_edited_since(const std::string& unit, Instant time) const {
  const auto found = edited_.find(unit);
  return found != edited_.end() && found->second >= time;
}

void FabricHand::remove() {
  static const liqo::Kind k_kinds[] = {
      liqo::k_slices,          liqo::k_virtual_nodes,  liqo::k_tenants,
      liqo::k_identities,      liqo::k_config_maps,    liqo::k_secrets,
      liqo::k_roles,           liqo::k_role_bindings,  liqo::k_leases,
      liqo::k_vk_templates,    liqo::k_namespace_maps, liqo::k_namespace_offloadings,
      liqo::k_foreign_clusters};
  const liqo::Kind& named = k_kinds[world_.below(std::size(k_kinds))];
  const embedded::Kind& kind = kind_of(named);
  std::vector<embedded::Key> keys;
  for (const auto& [key, object] : cluster_.live().objects().table.shelf(kind)) {
    if (is_removable(named, key)) keys.push_back(key);
  }
  if (keys.empty()) return;
  const embedded::Key& key = keys[world_.below(keys.size())];
  world_.note("by hand", static_cast<int64_t>(keys.size()));
  removed_[key.name] = world_.now();
  removed_[key.space + "/" + key.name] = world_.now();
  (void)cluster_.live().objects().remove(kind, key);
}

void FabricHand::edit() {
  const std::vector<HandEdit> all = possible_edits();
  if (all.empty()) return;
  const HandEdit& one = all[world_.below(all.size())];
  world_.note("edited by hand", static_cast<int64_t>(all.size()));
  edited_[one.unit] = world_.now();
  edits_.push_back(one);
  cluster_.live().objects().change(kind_of(one.kind), one.key, [&one](model::Node& document) {
    model::Node* at = &document;
    for (size_t i = 0; i + 1 < one.path.size(); ++i) at = &model::ensure(*at, {one.path[i]});
    model::put(*at, one.path.back(), model::text_node(one.text));
  });
}

std::vector<HandEdit> FabricHand::possible_edits() {
  std::vector<HandEdit> all;
  find_slice_edits(all);
  find_virtual_node_edits(all);
  find_record_edits(all);
  return all;
}

// What its buyer asks for, and what its provider grants: less, and more than was sold. Only once it
// is authenticated: Liqo decides on a request once.
void FabricHand::find_slice_edits(std::vector<HandEdit>& all) {
  for (const auto& [key, object] : cluster_.live().objects().table.shelf(kind_of(liqo::k_slices))) {
    const auto slice = liqo::read_slice(object->document());
    if (!is_tenants(key) || !names_unit(key.name) || object->is_deleting || !slice) continue;
    if (!slice->is_accepted(liqo::k_authentication_condition)) continue;
    const auto add = [&, this](std::vector<std::string> path, std::string_view text) {
      all.push_back({key.name, liqo::k_slices, key, object->uid, std::move(path), std::string(text),
                     world_.now()});
    };
    if (slice->meta.label(liqo::k_replicated_label) != "true") {
      add({"spec", "resources", "cpu"}, "1m");
      add({"spec", "csr"}, k_edited);
      add({"metadata", "labels", std::string(fabric::k_contract_label)}, "edited");
      continue;
    }
    const auto cpu = slice->grant.amounts.find("cpu");
    if (cpu == slice->grant.amounts.end() || cpu->second == 0) continue;
    add({"status", "resources", "cpu"}, "1m");
    add({"status", "resources", "cpu"}, "64");
  }
}

void FabricHand::find_virtual_node_edits(std::vector<HandEdit>& all) {
  const auto& nodes = cluster_.live().objects().table.shelf(kind_of(liqo::k_virtual_nodes));
  for (const auto& [key, object] : nodes) {
    if (!is_tenants(key) || !names_unit(key.name) || object->is_deleting) continue;
    all.push_back({key.name,
                   liqo::k_virtual_nodes,
                   key,
                   object->uid,
                   {"spec", "labels", "disk"},
                   "edited",
                   world_.now()});
  }
}

void FabricHand::find_record_edits(std::vector<HandEdit>& all) {
  const auto& maps = cluster_.live().objects().table.shelf(kind_of(liqo::k_config_maps));
  for (const auto& [key, object] : maps) {
    if (!is_tenants(key) || key.name != fabric::k_record_name) continue;
    const auto record = fabric::read_record(object->document());
    if (!record) continue;
    for (const auto& [unit, request] : record->units) {
      all.push_back({unit,
                     liqo::k_config_maps,
                     key,
                     object->uid,
                     {"data", unit},
                     std::string(k_edited),
                     world_.now()});
    }
  }
}

}  // namespace spillway::sim
