#include "fabric/liqo/handshake.h"

#include "fabric/liqo/part_fields.h"
#include "model/tree.h"

namespace spillway::fabric::liqo {
namespace {

constexpr Word<TenantPolicy> k_tenant_policies[] = {
    {TenantPolicy::keys_exchange, "KeysExchange"},
    {TenantPolicy::tolerate_no_handshake, "TolerateNoHandshake"}};
constexpr Word<TenantCondition> k_tenant_conditions[] = {{TenantCondition::active, "Active"},
                                                         {TenantCondition::cordoned, "Cordoned"},
                                                         {TenantCondition::drained, "Drained"}};
constexpr Word<IdentityType> k_identity_types[] = {{IdentityType::control_plane, "ControlPlane"},
                                                   {IdentityType::slice, "ResourceSlice"}};

Meta meta_of(std::string_view name, std::string_view peer) {
  Meta made;
  made.name = name;
  made.space = tenant_namespace_name(peer);
  made.labels = {{std::string(k_peer_label), std::string(peer)}};
  return made;
}

}  // namespace

template <class Fields>
void fields(Fields& f, Nonce& n) {
  f.part("metadata", n.meta);
  f.bytes("data.nonce", n.nonce);
}

template <class Fields>
void fields(Fields& f, SignedNonce& n) {
  f.part("metadata", n.meta);
  f.bytes("data.nonce", n.nonce);
  f.bytes("data.signedNonce", n.signature);
}

template <class Fields>
void fields(Fields& f, Tenant& t) {
  f.part("metadata", t.meta);
  f.needed("spec.clusterID");
  f.id("spec.clusterID", t.buyer);
  f.word("spec.authzPolicy", t.policy, k_tenant_policies);
  f.word("spec.tenantCondition", t.condition, k_tenant_conditions);
  f.bytes("spec.publicKey", t.public_key);
  f.bytes("spec.csr", t.request);
  f.bytes("spec.signature", t.signature);
  f.text("spec.proxyURL", t.proxy);
  f.name("status.tenantNamespace", t.space);
  f.part("status.authParams", t.answer);
}

template <class Fields>
void fields(Fields& f, Identity& i) {
  f.part("metadata", i.meta);
  f.needed("spec.clusterID");
  f.id("spec.clusterID", i.provider);
  f.word("spec.type", i.type, k_identity_types);
  f.part("spec.authParams", i.access);
  f.name("spec.namespace", i.space);
  f.name("status.kubeconfigSecretRef.name", i.kubeconfig_secret);
}

Result<std::string> private_key_in(const model::Node& keys) {
  Reader reader(keys, k_secrets);
  std::string key;
  reader.needed("data.privateKey");
  reader.bytes("data.privateKey", key);
  SPILLWAY_TRY(reader.status());
  return key;
}

Nonce new_nonce(std::string_view buyer) {
  Nonce made;
  made.meta = meta_of(k_nonce_secret, buyer);
  made.meta.labels.emplace(k_nonce_label, "true");
  return made;
}

Result<Nonce> read_nonce(const model::Node& object) { return read_object<Nonce>(object); }
model::Node to_object(const Nonce& nonce) { return write_object(nonce); }

SignedNonce new_signed_nonce(std::string_view provider, std::string_view nonce) {
  SignedNonce made;
  made.meta = meta_of(k_signed_nonce_secret, provider);
  made.meta.labels.emplace(k_signed_nonce_label, "true");
  made.nonce = nonce;
  return made;
}

Result<SignedNonce> read_signed_nonce(const model::Node& object) {
  return read_object<SignedNonce>(object);
}
model::Node to_object(const SignedNonce& nonce) { return write_object(nonce); }

Tenant new_tenant(std::string_view buyer, TenantProof proof) {
  Tenant made;
  made.meta = meta_of(buyer, buyer);
  made.buyer = buyer;
  made.public_key = std::move(proof.public_key);
  made.request = std::move(proof.request);
  made.signature = std::move(proof.signature);
  return made;
}

Result<Tenant> read_tenant(const model::Node& object) { return read_object<Tenant>(object); }
model::Node to_object(const Tenant& tenant) { return write_object(tenant); }

model::Node proxy_patch(std::string_view url) {
  model::Node patch = model::object_node();
  model::put(model::ensure(patch, {"spec"}), "proxyURL",
             url.empty() ? model::Node{} : model::text_node(url));
  return patch;
}

Identity new_identity(std::string_view provider, const AuthParams& answer, std::string_view space) {
  Identity made;
  made.meta = meta_of(control_plane_identity_name(provider), provider);
  made.provider = provider;
  made.access = answer;
  made.space = space;
  return made;
}

Result<Identity> read_identity(const model::Node& object) { return read_object<Identity>(object); }
model::Node to_object(const Identity& identity) { return write_object(identity); }

Result<Meta> read_remnant(const model::Node& object, const Kind& kind) {
  Reader reader(object, kind);
  Meta whole;
  reader.part("metadata", whole);
  SPILLWAY_TRY(reader.status());
  Meta made;
  made.name = std::move(whole.name);
  made.deleted = std::move(whole.deleted);
  made.finalizers = std::move(whole.finalizers);
  return made;
}

model::Node tenant_namespace(std::string_view peer) {
  model::Node made = empty_object(k_namespaces);
  Meta meta = meta_of("", peer);
  meta.name = std::exchange(meta.space, {});
  meta.labels.emplace(k_tenant_namespace_label, "true");
  for (const char* mode : {"audit", "enforce", "warn"}) {  // as Liqo 1.1 and later have it
    meta.labels.emplace(fmt::format("pod-security.kubernetes.io/{}", mode), "privileged");
  }
  Writer writer(made);
  writer.part("metadata", meta);
  return made;
}

}  // namespace spillway::fabric::liqo
