#include "embedded/liqo/identities.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "embedded/document.h"

namespace spillway::embedded::liqo {
namespace {

std::string kubeconfig_of(const codec::Identity& identity, std::string_view key_pem) {
  const codec::AuthParams& access = identity.access;
  const std::string space =
      identity.space.empty() ? "" : fmt::format("    namespace: {}\n", identity.space);
  return fmt::format(
      "apiVersion: v1\n"
      "clusters:\n"
      "- cluster:\n"
      "    certificate-authority-data: {0}\n"
      "    server: {1}\n"
      "  name: {2}\n"
      "contexts:\n"
      "- context:\n"
      "    cluster: {2}\n"
      "{3}"
      "    user: {4}\n"
      "  name: default-context\n"
      "current-context: default-context\n"
      "kind: Config\n"
      "users:\n"
      "- name: {4}\n"
      "  user:\n"
      "    client-certificate-data: {5}\n"
      "    client-key-data: {6}\n",
      to_base64(access.authority), access.api_server, identity.provider, space, identity.meta.name,
      to_base64(access.certificate), to_base64(key_pem));
}

}  // namespace

Identities::Identities(const Setting& setting) : Controller(setting) {
  follow(codec::k_identities);
  follow(codec::k_secrets, [this](const Object& secret) {
    if (label_of(secret, codec::k_identity_type_label).empty()) return;
    const std::string_view prefix = "kubeconfig-";
    if (!secret.key.name.starts_with(prefix)) return;
    look_soon({secret.key.space, secret.key.name.substr(prefix.size())});
  });
}

void Identities::look_at(const Key& key) {
  const ObjectPtr object = s_.find(codec::k_identities, key);
  if (object == nullptr || object->is_deleting) return;
  const auto identity = codec::read_identity(object->document());
  if (!identity) return;
  const Key secret{key.space, codec::kubeconfig_secret_name(key.name)};
  if (s_.find(codec::k_secrets, secret) == nullptr) {
    make_secret(*object, *identity);
  } else {
    renew_secret(secret, *identity);
  }
  if (identity->kubeconfig_secret == secret.name) return;
  s_.change(codec::k_identities, key, [&](model::Node& document) {
    model::put(model::ensure(document, {"status", "kubeconfigSecretRef"}), "name",
               model::text_node(secret.name));
  });
}

void Identities::make_secret(const Object& object, const codec::Identity& identity) const {
  const bool is_slice = identity.type == codec::IdentityType::slice;
  model::Node made = new_document(
      {object.key.space, codec::kubeconfig_secret_name(object.key.name)},
      {{std::string(k_managed_label), "true"},
       {std::string(codec::k_peer_label), identity.provider},
       {std::string(codec::k_identity_type_label), is_slice ? "ResourceSlice" : "ControlPlane"}},
      &object);
  if (!identity.space.empty()) {
    model::put(model::ensure(made, {"metadata", "annotations"}),
               codec::k_remote_namespace_annotation, model::text_node(identity.space));
  }
  put_kubeconfig(identity, made);
  s_.create(codec::k_secrets, std::move(made));
}

// As the Identity says now.
void Identities::renew_secret(const Key& secret, const codec::Identity& identity) const {
  s_.change(codec::k_secrets, secret,
            [&](model::Node& document) { put_kubeconfig(identity, document); });
}

void Identities::put_kubeconfig(const codec::Identity& identity, model::Node& secret) const {
  const pki::Secret key = s_.own_key.to_pem();
  model::put(model::ensure(secret, {"data"}), "kubeconfig",
             model::text_node(to_base64(kubeconfig_of(identity, key.view()))));
}

}  // namespace spillway::embedded::liqo
