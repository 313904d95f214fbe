// The handshake at the provider, from a buyer's first contract to its knowing who we are.
#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/base64.h"
#include "fabric/liqo/guard.h"
#include "fabric/liqo/shape.h"
#include "fabric/mending.h"
#include "fabric/selling.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

// Of the nonce that is there now: Liqo believes no other.
const Proof* current_proof(const Sale& sale, const SellerSight& sight) {
  if (!sale.request || !sale.request->proof || !sight.nonce) return nullptr;
  const Proof& proof = *sale.request->proof;
  return !proof.nonce.empty() && proof.nonce == sight.nonce->nonce ? &proof : nullptr;
}

void make_tenant(Selling& s) {
  if (s.sight.has_certificate) return remove_certificate(s);
  for (const Sale& sale : s.wish.sales) {
    const Proof* proof = has_newest_key(s, sale) ? current_proof(sale, s.sight) : nullptr;
    if (proof == nullptr) continue;
    const auto signature = from_base64(proof->signature);
    if (!signature) continue;  // never: it was checked when it was heard
    liqo::Tenant tenant =
        liqo::new_tenant(s.wish.buyer, {proof->public_key, proof->request, *signature});
    tenant.proxy = s.wish.proxy.value_or("");
    tenant.meta.labels.emplace(k_owner_label, k_owner_fabric);
    s.plan.deeds.emplace_back(Create{s.at(liqo::k_tenants, tenant.meta.name), to_object(tenant)});
    return;
  }
  if (!s.sight.nonce) {
    const liqo::Nonce nonce = liqo::new_nonce(s.wish.buyer);
    s.plan.deeds.emplace_back(Create{s.at(liqo::k_secrets, nonce.meta.name), to_object(nonce)});
    return;
  }
  if (s.sight.nonce->nonce.empty()) return;  // Liqo fills it
  hand_out(s);
  const NonceTalk talk{s.sight.nonce->nonce, hands_out(s)};
  for (const Sale& sale : s.wish.sales) {
    if (!has_newest_key(s, sale) || comes_by_account(s, sale)) continue;
    s.plan.deeds.emplace_back(Say{sale.contract, std::string(k_nonce_step), to_body(talk)});
  }
}

// One that was made for another control plane: a buyer that was installed anew, or somebody else.
bool is_others(const liqo::Tenant& tenant, const Sale& sale) {
  return !sale.buyer_key.empty() && tenant.public_key != sale.buyer_key;
}

// Something runs here under that key, and is paid for.
bool is_in_use(const Selling& s, const liqo::Tenant& tenant) {
  return std::any_of(s.sight.slices.begin(), s.sight.slices.end(), [&](const auto& slice) {
    const Wanted it = wanted(s.wish, slice.first);
    return it.sale != nullptr && !is_others(tenant, *it.sale);
  });
}

// Liqo has denied them under the other key, and looks at none a second time; the buyer's Liqo
// copies them again.
void remove_denied(Selling& s) {
  for (const auto& [name, slice] : s.sight.slices) {
    const bool is_denied =
        status_of(slice.conditions, liqo::k_authentication_condition) == liqo::k_denied;
    if (is_denied) s.remove(liqo::k_slices, name, slice.meta.uid);
  }
}

// Liqo has not answered, and will not: what it was shown is no signature of the nonce that is
// there.
bool is_stale(const Selling& s, const liqo::Tenant& tenant) {
  if (tenant.answer || is_made_by_account(s, tenant)) return false;
  return std::none_of(s.wish.sales.begin(), s.wish.sales.end(), [&](const Sale& sale) {
    const Proof* proof = current_proof(sale, s.sight);
    return proof != nullptr && from_base64(proof->signature) == tenant.signature;
  });
}

// What was asked for under its key; nothing, of a proof that was forgotten.
liqo::Tenant tenant_to_be(const Selling& s, const liqo::Tenant& seen) {
  liqo::Tenant wanted = liqo::new_tenant(s.wish.buyer, {seen.public_key, seen.request, {}});
  wanted.meta = seen.meta;
  for (const Sale& sale : s.wish.sales) {
    const bool is_its =
        sale.request && sale.request->proof && sale.request->proof->public_key == seen.public_key;
    if (is_its) wanted.request = sale.request->proof->request;
  }
  return wanted;
}

// A buyer that comes by its account makes its Tenant itself, without it.
void mark_tenant(Selling& s, const liqo::Tenant& tenant) {
  if (tenant.meta.label(k_owner_label) == k_owner_fabric) return;
  model::Node patch = model::object_node();
  model::put(model::ensure(patch, {"metadata", "labels"}), k_owner_label,
             model::text_node(k_owner_fabric));
  s.plan.deeds.emplace_back(Merge{s.at(liqo::k_tenants, tenant.meta.name), std::move(patch)});
}

// False: there is no tenant that can be built on.
bool settle_tenant(Selling& s) {
  if (!s.sight.tenant) {
    make_tenant(s);
    return false;
  }
  const liqo::Tenant& tenant = *s.sight.tenant;
  const bool is_foreign = std::any_of(
      s.wish.sales.begin(), s.wish.sales.end(),
      [&](const Sale& sale) { return is_others(tenant, sale) && has_newest_key(s, sale); });
  const bool is_obsolete = is_foreign && !is_in_use(s, tenant);
  if (is_obsolete || is_stale(s, tenant)) {
    s.remove(liqo::k_tenants, tenant.meta.name, tenant.meta.uid);
    remove_certificate(s);
    if (is_obsolete) remove_denied(s);
    return false;
  }
  if (is_foreign) {
    s.tell(s.thing(), "it comes with another key than the one that its units run under",
           "wait until those have ended, or end them");
  }
  if (tenant.condition != liqo::TenantCondition::active) {
    s.tell(s.thing(), "its Tenant is cordoned or drained", "set its tenantCondition to Active");
  }
  mark_tenant(s, tenant);
  mend_tenant(tenant_to_be(s, tenant), tenant, s.plan);
  if (s.wish.proxy && *s.wish.proxy != tenant.proxy) {
    s.plan.deeds.emplace_back(
        Merge{s.at(liqo::k_tenants, tenant.meta.name), liqo::proxy_patch(*s.wish.proxy)});
  }
  return tenant.answer.has_value();
}

void add_to_record(Selling& s, const liqo::Texts& add) {
  if (!s.sight.record) {
    s.plan.deeds.emplace_back(create_record(s.space, add));
  } else if (!add.empty()) {
    s.plan.deeds.emplace_back(change_record(s.space, add, {}));
  }
}

void tell_of_full_record(Selling& s, const liqo::Texts& add) {
  add_to_record(s, add);
  s.tell(s.thing(),
         fmt::format("it has bought more units than its record takes, {}", k_most_recorded),
         "the others wait until some of them have ended");
}

// Somebody else has written it: what was heard is known without it, and makes another.
void drop_record(Selling& s) {
  s.tell("record " + std::string(k_record_name), "somebody edited it, and it cannot be read",
         "it is made again");
  s.remove(liqo::k_config_maps, k_record_name);
}

// Nothing is before it is recorded.
bool is_granted(const SellerSight& sight, const std::string& unit) {
  const auto slice = sight.slices.find(unit);
  return slice != sight.slices.end() && slice->second.is_accepted(liqo::k_resources_condition);
}

// What is heard is written down before anything of it may exist.
void write_record(Selling& s) {
  if (s.sight.is_record_unreadable) return drop_record(s);
  const size_t recorded = s.sight.record ? s.sight.record->units.size() : 0;
  liqo::Texts add;
  bool is_lost = false;
  for (const Sale& sale : s.wish.sales) {
    for (const SoldUnit& unit : sale.units) {
      const Wanted it = wanted(s.wish, unit.name);
      if (it.request == nullptr || has_recorded(s.sight, unit.name, *it.request)) continue;
      if (recorded + add.size() >= k_most_recorded) return tell_of_full_record(s, add);
      add[unit.name] = to_base64(*it.request);
      if (!s.sight.record || !s.sight.record->units.contains(unit.name)) {
        is_lost = is_lost || (s.sight.record && is_granted(s.sight, unit.name));
        continue;
      }
      s.tell("record " + std::string(k_record_name), "somebody edited the request of " + unit.name,
             "it is put right; the contract says which it is");
    }
  }
  if (is_lost) {
    s.tell("record " + std::string(k_record_name), "somebody removed what is in it",
           "it is written again");
  }
  add_to_record(s, add);
}

// The guard goes by it (R4). Namespaces that were made before it did are without.
void note_provider(Selling& s) {
  if (s.sight.provider == s.wish.self) return;
  if (!s.sight.provider.empty()) {
    s.tell(s.thing(), fmt::format("somebody edited {} of {}", liqo::k_provider_annotation, s.space),
           "it is put right");
  }
  model::Node notes =
      liqo::object_of({{liqo::k_provider_annotation, model::text_node(s.wish.self)}});
  s.plan.deeds.emplace_back(
      Merge{{liqo::k_namespaces, {}, s.space},
            liqo::object_of({{"metadata", liqo::object_of({{"annotations", std::move(notes)}})}})});
}

// Until the slices are there, the buyer may not know; also who we are, if an earlier contract
// ended before it had made anything of it. Of a peering without units nothing here would tell.
void say_identity(Selling& s, const Sale& sale) {
  IdentityTalk talk{*s.sight.tenant->answer, s.sight.tenant->space, {}};
  if (talk.space.empty()) talk.space = s.space;
  bool is_waiting = sale.is_kept;
  for (const SoldUnit& unit : sale.units) {
    if (!unit.is_live) continue;
    is_waiting = is_waiting || !s.sight.slices.contains(unit.name);
    const Wanted it = wanted(s.wish, unit.name);
    const bool is_heard = it.request != nullptr && has_recorded(s.sight, unit.name, *it.request);
    if (is_heard) talk.units.push_back(unit.name);
  }
  if (!is_waiting) return;
  s.plan.deeds.emplace_back(Say{sale.contract, std::string(k_identity_step), to_body(talk)});
}

}  // namespace

Wanted wanted(const SellerWish& wish, std::string_view name) {
  for (const Sale& sale : wish.sales) {
    for (const SoldUnit& unit : sale.units) {
      if (unit.name != name || !unit.is_live) continue;
      const bool is_heard = sale.request && sale.request->units.contains(unit.name);
      return {&sale, &unit, is_heard ? &sale.request->units.at(unit.name) : nullptr};
    }
  }
  return {};
}

bool is_live(const Sale& sale) {
  return sale.is_kept || std::any_of(sale.units.begin(), sale.units.end(),
                                     [](const SoldUnit& unit) { return unit.is_live; });
}

bool has_newest_key(const Selling& s, const Sale& sale) {
  if (!is_live(sale)) return false;
  return std::none_of(s.wish.sales.begin(), s.wish.sales.end(), [&](const Sale& other) {
    const bool is_newer =
        std::tie(other.made, other.contract.text) > std::tie(sale.made, sale.contract.text);
    return is_live(other) && is_newer && !other.buyer_key.empty() &&
           other.buyer_key != sale.buyer_key;
  });
}

bool has_recorded(const SellerSight& sight, const std::string& name, const std::string& request) {
  if (!sight.record) return false;
  const auto found = sight.record->units.find(name);
  return found != sight.record->units.end() && found->second == to_base64(request);
}

void remove_certificate(Selling& s) {
  if (s.sight.has_certificate) s.remove(liqo::k_secrets, liqo::k_certificate_secret);
}

void welcome(Selling& s) {
  if (!s.sight.has_space) {
    s.plan.deeds.emplace_back(
        Create{{liqo::k_namespaces, {}, s.space}, liqo::tenant_namespace(s.wish.buyer)});
    return;
  }
  note_provider(s);
  write_record(s);
  keep_fence(s.wish.buyer, s.sight.fence, s.plan);
  if (!settle_tenant(s)) return;
  for (const Sale& sale : s.wish.sales) say_identity(s, sale);
}

}  // namespace spillway::fabric
