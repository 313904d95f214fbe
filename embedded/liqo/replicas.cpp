#include "embedded/liqo/replicas.h"

#include "embedded/document.h"
#include "embedded/liqo/certificates.h"
#include "fabric/liqo/handshake.h"
#include "pki/hash.h"
#include "pki/public_key.h"
#include "pki/subject_request.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;

constexpr std::string_view k_default_class = "default";

// What Liqo's own class grants of what a slice does not ask for.
constexpr std::pair<std::string_view, std::string_view> k_default_amounts[] = {
    {"cpu", "4"}, {"ephemeral-storage", "20Gi"}, {"memory", "8Gi"}, {"pods", "110"}};

void grant_default(Node& document) {
  const Node* asked = model::look(document, {"spec", "resources"});
  Node granted = asked == nullptr ? model::object_node() : *asked;
  for (const auto& [name, amount] : k_default_amounts) {
    if (granted.find(name) == nullptr) put(granted, name, text_node(amount));
  }
  Node& status = model::ensure(document, {"status"});
  put(status, "resources", std::move(granted));
  Node& storage =
      put(status, "storageClasses", model::array_node()).items.emplace_back(model::object_node());
  put(storage, "storageClassName", text_node("liqo"));
}

}  // namespace

Replicas::Replicas(const Setting& setting) : Controller(setting) {
  follow(codec::k_slices);
  follow(codec::k_tenants, [this](const Object& tenant) {
    for (const ObjectPtr& one : s_.all(codec::k_slices, tenant.key.space)) look_soon(one->key);
  });
}

void Replicas::look_at(const Key& key) {
  const ObjectPtr object = s_.find(codec::k_slices, key);
  if (object == nullptr || object->is_deleting) return;
  if (label_of(*object, codec::k_replicated_label) != "true") return;
  const auto slice = codec::read_slice(object->document());
  if (!slice || slice->request.empty()) return;
  if (!status_of(slice->conditions, codec::k_authentication_condition).empty()) return;
  const std::string buyer = peer_of_space(s_, key.space);
  const ObjectPtr tenant = s_.find(codec::k_tenants, {key.space, buyer});
  if (tenant == nullptr) return;  // it tells when it comes
  decide(key, *slice, authenticate(key, *slice, buyer));
}

Result<codec::AuthParams> Replicas::authenticate(const Key& key, const codec::Slice& slice,
                                                 const std::string& buyer) const {
  const auto tenant = codec::read_tenant(s_.find(codec::k_tenants, {key.space, buyer})->document());
  if (!tenant) return tl::unexpected(tenant.error());
  const auto public_key = pki::read_public_key(tenant->public_key);
  if (!public_key) return tl::unexpected(public_key.error());
  const pki::Subject subject{buyer, codec::unit_user(key.name, pki::sha256_hex(buyer))};
  SPILLWAY_TRY(pki::check_subject_request(slice.request, subject, *public_key));
  const Key secret{key.space, codec::certificate_secret_name(key.name)};
  return certify(s_, {secret, buyer, slice.request, subject}, *public_key);
}

void Replicas::decide(const Key& key, const codec::Slice& slice,
                      const Result<codec::AuthParams>& answer) const {
  s_.change(codec::k_slices, key, [&](Node& document) {
    if (!answer) {
      set_condition(document,
                    {.type = codec::k_authentication_condition,
                     .status = codec::k_denied,
                     .reason = "ResourceSliceAuthenticationDenied",
                     .message = "ResourceSlice authentication denied"},
                    s_.now());
      return;
    }
    put(model::ensure(document, {"status"}), "authParams", auth_params_node(*answer));
    set_condition(document,
                  {.type = codec::k_authentication_condition,
                   .status = codec::k_accepted,
                   .reason = "ResourceSliceAuthenticationAccepted",
                   .message = "ResourceSlice authentication accepted"},
                  s_.now());
    if (slice.class_name != k_default_class) return;
    grant_default(document);
    set_condition(document,
                  {.type = codec::k_resources_condition,
                   .status = codec::k_accepted,
                   .reason = "ResourceSliceResourcesAccepted",
                   .message = "ResourceSlice resources accepted"},
                  s_.now());
  });
}

}  // namespace spillway::embedded::liqo
