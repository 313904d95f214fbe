#include "embedded/liqo/setting.h"

#include "base/base64.h"
#include "embedded/document.h"
#include "pki/certificate.h"

namespace spillway::embedded::liqo {
namespace {

constexpr Duration k_tenants_last = hours(24 * 365);

}  // namespace

using model::Node;
using model::put;
using model::text_node;

std::vector<ObjectPtr> Setting::all(const codec::Kind& named, std::string_view space) const {
  std::vector<ObjectPtr> found;
  for (const auto& [key, object] : objects.table.shelf(kind(named))) {
    if (space.empty() || key.space == space) found.push_back(object);
  }
  return found;
}

Result<codec::AuthParams> Setting::let_in(const pki::PublicKey& of,
                                          const pki::Subject& subject) const {
  const Instant present = loop.now();
  auto certificate = authority.issue_user(of, subject, present, present + k_tenants_last);
  if (!certificate) return tl::unexpected(certificate.error());
  const auto facts = pki::read_certificate(*certificate);
  if (!facts) return tl::unexpected(facts.error());
  access.add_certificate(facts->serial, {subject.common_name, {subject.organization}});
  return codec::AuthParams{
      authority.certificate_pem(), std::move(*certificate), options.api_server, {}};
}

std::string peer_of_space(const Setting& setting, const std::string& space) {
  const ObjectPtr object = setting.find(codec::k_namespaces, {"", space});
  return object == nullptr ? std::string() : std::string(label_of(*object, codec::k_peer_label));
}

std::string_view label_of(const Object& object, std::string_view key) {
  const std::string* found = find_pair(object.labels, key);
  return found == nullptr ? std::string_view() : std::string_view(*found);
}

Node new_document(const Key& key, const codec::Texts& labels, const Object* owner) {
  Node made = model::object_node();
  Node& metadata = model::ensure(made, {"metadata"});
  put(metadata, "name", text_node(key.name));
  if (!key.space.empty()) put(metadata, "namespace", text_node(key.space));
  for (const auto& [label, value] : labels) {
    put(model::ensure(metadata, {"labels"}), label, text_node(value));
  }
  if (owner != nullptr) {
    put(metadata, "ownerReferences", model::array_node()).items.push_back(owner_reference(*owner));
  }
  return made;
}

Node auth_params_node(const codec::AuthParams& params) {
  Node made = model::object_node();
  put(made, "apiServer", text_node(params.api_server));
  put(made, "ca", text_node(to_base64(params.authority)));
  put(made, "signedCRT", text_node(to_base64(params.certificate)));
  if (!params.proxy.empty()) put(made, "proxyURL", text_node(params.proxy));
  return made;
}

}  // namespace spillway::embedded::liqo
