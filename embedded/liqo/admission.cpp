#include "embedded/liqo/admission.h"

#include <algorithm>

#include <fmt/format.h>

#include "embedded/document.h"
#include "embedded/liqo/shadow_pods.h"
#include "embedded/liqo/vk_options.h"
#include "fabric/liqo/slice.h"
#include "fabric/record.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;

Refused webhook_denies(std::string_view webhook, std::string_view why) {
  return Refused(Refusal{
      403, "Forbidden",
      fmt::format("admission webhook \"{}.liqo.io\" denied the request: {}", webhook, why)});
}

// With the reason that a policy has by default: the replicator tries again then.
Refused policy_denies(const Ask& ask, std::string_view why) {
  return Refused(Refusal{
      422, "Invalid",
      fmt::format("{} \"{}\" is forbidden: ValidatingAdmissionPolicy 'spillway-units' denied "
                  "request: {}",
                  ask.kind->resource(), ask.name, why)});
}

struct Enum {
  const codec::Kind& kind;
  std::string_view part;  // "spec" or "status"
  std::string_view field;
  std::vector<std::string_view> words;
};

const std::vector<Enum>& enums() {
  static const std::vector<Enum> k_enums = {
      {codec::k_tenants, "spec", "tenantCondition", {"Active", "Cordoned", "Drained"}},
      {codec::k_tenants, "spec", "authzPolicy", {"KeysExchange", "TolerateNoHandshake"}},
      {codec::k_identities, "spec", "type", {"ControlPlane", "ResourceSlice"}},
      {codec::k_quotas, "spec", "limitsEnforcement", {"None", "Soft", "Hard"}},
      {codec::k_namespace_offloadings,
       "spec",
       "namespaceMappingStrategy",
       {"DefaultName", "EnforceSameName", "SelectedName"}},
      {codec::k_namespace_offloadings,
       "spec",
       "podOffloadingStrategy",
       {"Local", "Remote", "LocalAndRemote"}},
  };
  return k_enums;
}

std::string supported_words(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) {
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", word);
  }
  return text;
}

void check_word(std::string field, std::string_view said,
                const std::vector<std::string_view>& words, std::vector<Cause>& causes) {
  if (said.empty() || std::find(words.begin(), words.end(), said) != words.end()) return;
  causes.push_back(
      unsupported_value(std::move(field), fmt::format("\"{}\"", said), supported_words(words)));
}

Done check_enums(const Setting& s, const Ask& ask, const Node& document) {
  std::vector<Cause> causes;
  for (const Enum& one : enums()) {
    if (ask.kind != &s.kind(one.kind)) continue;
    check_word(fmt::format("{}.{}", one.part, one.field),
               model::text_at(document, {one.part, one.field}), one.words, causes);
  }
  if (ask.kind == &s.kind(codec::k_slices)) {
    size_t i = 0;
    for (const Node& condition : model::items_at(document, {"status", "conditions"})) {
      check_word(fmt::format("status.conditions[{}].status", i++),
                 model::text_at(condition, {"status"}), {codec::k_accepted, codec::k_denied},
                 causes);
    }
  }
  if (causes.empty()) return {};
  return invalid(*ask.kind, name_of(document), std::move(causes));
}

Done check_new(const Setting& s, const Ask& ask, const Node& document) {
  const std::string name(name_of(document));
  if (ask.kind == &s.kind(codec::k_tenants)) {
    for (const ObjectPtr& one : s.all(codec::k_tenants)) {
      if (one->key.name != name || one->key.space == ask.space) continue;
      return webhook_denies(
          "tenant", fmt::format("tenant {} exists in namespace {} already", name, one->key.space));
    }
  }
  if (ask.kind == &s.kind(codec::k_virtual_nodes) &&
      s.find(codec::k_nodes, {"", name}) != nullptr) {
    return webhook_denies("virtualnode", fmt::format("node {} already exists", name));
  }
  if (ask.kind == &s.kind(codec::k_namespace_offloadings) && name != codec::k_offloading_name) {
    return webhook_denies("nsoff", fmt::format("the name must be {}", codec::k_offloading_name));
  }
  const bool is_local =
      ask.kind == &s.kind(codec::k_slices) &&
      model::text_at(document, {"metadata", "labels", codec::k_replicated_label}) != "true";
  if (!is_local) return {};
  for (const ObjectPtr& one : s.all(codec::k_slices)) {
    const bool is_other = one->key.name == name && one->key.space != ask.space &&
                          label_of(*one, codec::k_replicated_label) != "true";
    if (is_other) {
      return webhook_denies("resourceslice",
                            fmt::format("a ResourceSlice {} exists already", name));
    }
  }
  return {};
}

// What a tenant sends is what was written down before, and does not change.
Done check_record(const Setting& s, const Ask& ask, const Node& document, const Object* before) {
  if (!s.options.checks_record || !ask.user.is_in(codec::k_control_plane_group)) return {};
  if (ask.subresource == "status") return policy_denies(ask, "tenants write no status");
  if (ask.kind != &s.kind(codec::k_slices)) return {};
  if (before != nullptr) return policy_denies(ask, "a slice does not change");
  const ObjectPtr record =
      s.find(codec::k_config_maps, {ask.space, std::string(fabric::k_record_name)});
  if (record == nullptr) return policy_denies(ask, "there is no record of its units");
  const auto read = fabric::read_record(record->document());
  const std::string name(name_of(document));
  const bool is_recorded = read && read->units.contains(name) &&
                           read->units.at(name) == model::text_at(document, {"spec", "csr"});
  if (!is_recorded) return policy_denies(ask, "it is not in the record of units");
  const auto slice = codec::read_slice(document);
  if (!slice) return policy_denies(ask, slice.error().reason);
  if (const Status is_copy = check_replica(*slice, ask.user.name, s.id()); !is_copy) {
    return policy_denies(ask, is_copy.error().reason);
  }
  return {};
}

Done check_options(const Setting& s, const Ask& ask, const Node& document) {
  if (ask.kind != &s.kind(codec::k_virtual_nodes) || ask.subresource == "status") return {};
  if (has_options(s, document)) return {};
  return webhook_denies("virtualnode", "its VkOptionsTemplate is not found");
}

Done check_offloading_stays(const Setting& s, const Ask& ask, const Node& document,
                            const Object& before) {
  if (ask.kind != &s.kind(codec::k_namespace_offloadings)) return {};
  const Node old = before.document();
  for (const std::string_view field : {"namespaceMappingStrategy", "remoteNamespaceName"}) {
    if (model::text_at(old, {"spec", field}) == model::text_at(document, {"spec", field})) continue;
    return webhook_denies("nsoff",
                          fmt::format("the {} value cannot be modified after creation", field));
  }
  return {};
}

}  // namespace

Done admit(const Setting& s, const Ask& ask, Node& document, const Object* before) {
  if (auto done = check_enums(s, ask, document); !done) return done;
  if (before == nullptr) {
    if (auto done = check_new(s, ask, document); !done) return done;
  } else if (auto done = check_offloading_stays(s, ask, document, *before); !done) {
    return done;
  }
  if (auto done = check_options(s, ask, document); !done) return done;
  if (ask.kind == &s.kind(codec::k_shadow_pods) && before == nullptr &&
      !ask.user.is_in("system:masters")) {
    model::put(model::ensure(document, {"metadata", "labels"}), codec::k_creator_label,
               model::text_node(ask.user.name));
    if (const Status fits = check_guest(s, ask.user.name, document); !fits) {
      return webhook_denies("shadowpod", fits.error().reason);
    }
  }
  return check_record(s, ask, document, before);
}

}  // namespace spillway::embedded::liqo
