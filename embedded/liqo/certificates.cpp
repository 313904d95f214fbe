#include "embedded/liqo/certificates.h"

#include "base/base64.h"
#include "embedded/document.h"

namespace spillway::embedded::liqo {
namespace {

std::string request_in(const Object& secret) {
  return from_base64(model::text_at(secret.document(), {"data", "csr"})).value_or("");
}

}  // namespace

Result<codec::AuthParams> certify(const Setting& setting, const Certified& wanted,
                                  const pki::PublicKey& key) {
  const ObjectPtr known = setting.find(codec::k_secrets, wanted.secret);
  if (known != nullptr && request_in(*known) != wanted.request) {
    return fail(Code::denied, "Secret " + wanted.secret.name, "it is of another request",
                "use a name that was never used, or remove it");
  }
  auto params = setting.let_in(key, wanted.subject);
  if (!params || known != nullptr) return params;
  model::Node made =
      new_document(wanted.secret, {{std::string(codec::k_peer_label), wanted.buyer}}, nullptr);
  model::Node& data = model::ensure(made, {"data"});
  model::put(data, "csr", model::text_node(to_base64(wanted.request)));
  model::put(data, "certificate", model::text_node(to_base64(params->certificate)));
  setting.create(codec::k_secrets, std::move(made));
  return params;
}

}  // namespace spillway::embedded::liqo
