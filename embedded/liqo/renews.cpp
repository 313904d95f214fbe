#include "embedded/liqo/renews.h"

#include "embedded/document.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;

std::string certificate_in(const Node& object) {
  return std::string(model::text_at(object, {"status", "authParams", "signedCRT"}));
}

bool is_copy(const Object& renew) { return label_of(renew, codec::k_replicated_label) == "true"; }

bool is_control_planes(const Node& identity) {
  return model::text_at(identity, {"spec", "type"}) == "ControlPlane";
}

}  // namespace

Renews::Renews(const Setting& setting) : Controller(setting) {
  follow(codec::k_renews);
  follow(codec::k_identities);  // each by the name of its own
  follow(codec::k_tenants, [this](const Object& tenant) {
    for (const ObjectPtr& one : s_.all(codec::k_renews, tenant.key.space)) look_soon(one->key);
  });
}

void Renews::look_at(const Key& key) {
  const ObjectPtr renew = s_.find(codec::k_renews, key);
  if (renew != nullptr && renew->is_deleting) return;
  if (renew == nullptr) return keep(key);
  if (is_copy(*renew)) return answer(*renew);
  take(*renew);
}

void Renews::keep(const Key& identity) const {
  const ObjectPtr of = s_.find(codec::k_identities, identity);
  if (of == nullptr || of->is_deleting || !is_control_planes(of->document())) return;
  const std::string provider(model::text_at(of->document(), {"spec", "clusterID"}));
  Node made = new_document(identity,
                           {{std::string(codec::k_replication_label), "true"},
                            {std::string(codec::k_destination_label), provider},
                            {std::string(codec::k_peer_label), provider}},
                           of.get());
  Node& spec = model::ensure(made, {"spec"});
  put(spec, "consumerClusterID", text_node(s_.id()));
  put(spec, "identityType", text_node("ControlPlane"));
  s_.create(codec::k_renews, std::move(made));
}

void Renews::answer(const Object& copy) const {
  const std::string buyer = peer_of_space(s_, copy.key.space);
  const ObjectPtr tenant = s_.find(codec::k_tenants, {copy.key.space, buyer});
  if (tenant == nullptr) return;
  const Node theirs = tenant->document();
  const Node* params = model::look(theirs, {"status", "authParams"});
  if (params == nullptr || certificate_in(theirs) == certificate_in(copy.document())) return;
  s_.change(codec::k_renews, copy.key, [params](Node& document) {
    put(model::ensure(document, {"status"}), "authParams", *params);
  });
}

void Renews::take(const Object& renew) const {
  const Node document = renew.document();
  const Node* params = model::look(document, {"status", "authParams"});
  const ObjectPtr identity = s_.find(codec::k_identities, renew.key);
  if (params == nullptr || identity == nullptr || identity->is_deleting) return;
  const Node known = identity->document();
  if (model::text_at(known, {"spec", "authParams", "signedCRT"}) == certificate_in(document))
    return;
  s_.change(codec::k_identities, renew.key, [params](Node& changed) {
    put(model::ensure(changed, {"spec"}), "authParams", *params);
  });
}

}  // namespace spillway::embedded::liqo
