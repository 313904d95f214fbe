#include "embedded/liqo/quotas.h"

#include "embedded/document.h"
#include "fabric/liqo/slice.h"
#include "pki/hash.h"

namespace spillway::embedded::liqo {
namespace {

bool is_cordoned(const codec::Slice& slice) {
  return slice.meta.annotation(codec::k_cordon_annotation) == "true" ||
         slice.meta.annotation(k_cordon_tenant_annotation) == "true";
}

}  // namespace

Quotas::Quotas(const Setting& setting) : Controller(setting) { follow(codec::k_slices); }

void Quotas::look_at(const Key& key) {
  const ObjectPtr object = s_.find(codec::k_slices, key);
  if (object == nullptr || object->is_deleting) return;
  if (label_of(*object, codec::k_replicated_label) != "true") return;
  const model::Node document = object->document();
  const auto slice = codec::read_slice(document);
  if (!slice || !slice->is_accepted(codec::k_resources_condition)) return;
  const std::string user = codec::unit_user(key.name, pki::sha256_hex(slice->buyer));
  const Key quota{key.space, user};
  const auto write = [&](model::Node& made) {
    model::Node& spec = model::ensure(made, {"spec"});
    const model::Node* granted = model::look(document, {"status", "resources"});
    model::put(spec, "resources", granted == nullptr ? model::object_node() : *granted);
    if (is_cordoned(*slice)) {
      model::put(spec, "cordoned", model::boolean_node(true));
    } else {
      model::erase(spec, "cordoned");
    }
  };
  if (s_.find(codec::k_quotas, quota) != nullptr) return s_.change(codec::k_quotas, quota, write);
  model::Node made = new_document(quota, {{std::string(k_managed_label), "true"}}, object.get());
  model::Node& spec = model::ensure(made, {"spec"});
  model::put(spec, "limitsEnforcement", model::text_node("None"));
  model::put(spec, "user", model::text_node(user));
  write(made);
  s_.create(codec::k_quotas, std::move(made));
}

}  // namespace spillway::embedded::liqo
