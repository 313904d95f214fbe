#include "embedded/liqo/tenants.h"

#include "embedded/document.h"
#include "embedded/liqo/certificates.h"
#include "embedded/liqo/roles.h"
#include "pki/ed25519.h"
#include "pki/public_key.h"
#include "pki/subject_request.h"

namespace spillway::embedded::liqo {
namespace {

constexpr std::string_view k_tenant_finalizer = "tenant.liqo.io/finalizer";

// The key that the tenant has shown to have; it has signed the nonce that is there now.
Result<pki::PublicKey> proven_key(const codec::Tenant& tenant, const std::string& nonce) {
  auto key = pki::read_public_key(tenant.public_key);
  if (!key) return key;
  SPILLWAY_TRY(pki::verify_message(*key, nonce, tenant.signature));
  const pki::Subject subject{std::string(codec::k_control_plane_group), tenant.buyer};
  SPILLWAY_TRY(pki::check_subject_request(tenant.request, subject, *key));
  return key;
}

std::string nonce_in(const Setting& setting, const std::string& space) {
  for (const ObjectPtr& secret : setting.all(codec::k_secrets, space)) {
    if (label_of(*secret, codec::k_nonce_label) != "true") continue;
    const auto nonce = codec::read_nonce(secret->document());
    if (nonce) return nonce->nonce;
  }
  return {};
}

}  // namespace

Tenants::Tenants(const Setting& setting) : Controller(setting) {
  follow(codec::k_tenants);
  follow(codec::k_secrets, [this](const Object& secret) {
    if (label_of(secret, codec::k_nonce_label) != "true") return;
    for (const ObjectPtr& one : s_.all(codec::k_tenants, secret.key.space)) look_soon(one->key);
  });
}

void Tenants::look_at(const Key& key) {
  const ObjectPtr object = s_.find(codec::k_tenants, key);
  if (object == nullptr) return;
  const model::Node document = object->document();
  if (object->is_deleting) {
    unbind(key);
    s_.change(codec::k_tenants, key,
              [](model::Node& tenant) { drop_finalizer(tenant, k_tenant_finalizer); });
    return;
  }
  if (!has_finalizer(document, k_tenant_finalizer)) {
    s_.change(codec::k_tenants, key,
              [](model::Node& tenant) { add_finalizer(tenant, k_tenant_finalizer); });
  }
  const auto tenant = codec::read_tenant(document);
  if (!tenant || tenant->policy != codec::TenantPolicy::keys_exchange) return;
  if (tenant->condition == codec::TenantCondition::drained) return drain(key);
  if (!tenant->answer) return answer(key, *tenant);
  bind(key, *tenant);
  cordon(key, tenant->condition == codec::TenantCondition::cordoned);
}

// What it has stays, nothing more; what comes later is not looked at.
void Tenants::cordon(const Key& key, bool is_cordoned) const {
  for (const ObjectPtr& slice : s_.all(codec::k_slices, key.space)) {
    if (label_of(*slice, codec::k_replicated_label) != "true") continue;
    if ((annotation_of(slice->document(), k_cordon_tenant_annotation) == "true") == is_cordoned) {
      continue;
    }
    s_.change(codec::k_slices, slice->key, [is_cordoned](model::Node& document) {
      model::Node& annotations = model::ensure(document, {"metadata", "annotations"});
      if (is_cordoned) {
        model::put(annotations, k_cordon_tenant_annotation, model::text_node("true"));
      } else {
        model::erase(annotations, k_cordon_tenant_annotation);
      }
    });
  }
}

void Tenants::answer(const Key& key, const codec::Tenant& tenant) const {
  const std::string nonce = nonce_in(s_, key.space);
  if (nonce.empty()) return;
  const auto proven = proven_key(tenant, nonce);
  if (!proven) return;
  const Key secret{key.space, std::string(codec::k_certificate_secret)};
  const pki::Subject subject{std::string(codec::k_control_plane_group), tenant.buyer};
  const auto params = certify(s_, {secret, tenant.buyer, tenant.request, subject}, *proven);
  if (!params) return;
  bind(key, tenant);
  s_.change(codec::k_tenants, key, [&](model::Node& document) {
    model::Node& status = model::ensure(document, {"status"});
    model::put(status, "authParams", auth_params_node(*params));
    model::put(status, "tenantNamespace", model::text_node(key.space));
  });
}

void Tenants::bind(const Key& key, const codec::Tenant& tenant) const {
  bind_role(s_.objects, {key.space, std::string(k_tenant_binding)}, k_tenant_role, "User",
            tenant.buyer);
}

void Tenants::unbind(const Key& key) const {
  unbind_role(s_.objects, {key.space, std::string(k_tenant_binding)});
}

// Everything of it goes, and it may make nothing anew.
void Tenants::drain(const Key& key) const {
  unbind(key);
  for (const codec::Kind& kind : {codec::k_slices, codec::k_namespace_maps}) {
    for (const ObjectPtr& object : s_.all(kind, key.space)) {
      if (label_of(*object, codec::k_replicated_label) == "true") s_.remove(kind, object->key);
    }
  }
}

}  // namespace spillway::embedded::liqo
