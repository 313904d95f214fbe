#include "embedded/liqo/shadow_pods.h"

#include <fmt/format.h>

#include "embedded/amounts.h"
#include "embedded/document.h"
#include "fabric/liqo/guests.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;

constexpr std::string_view k_managed_by_label = "liqo.io/managed-by";

Amounts asked_by(const Node& shadow) {
  Node pod = model::object_node();
  if (const Node* spec = model::look(shadow, {"spec", "pod"})) put(pod, "spec", *spec);
  Amounts asked = requests_of(pod);
  asked.erase("pods");
  return asked;
}

Status refuse_guest(const Node& shadow, std::string reason) {
  return fail(Code::denied, "ShadowPod " + std::string(name_of(shadow)), std::move(reason),
              "ask for less, or buy more");
}

}  // namespace

Status check_guest(const Setting& s, const std::string& user, const Node& shadow) {
  for (const ObjectPtr& object : s.all(codec::k_quotas)) {
    const auto quota = codec::read_quota(object->document());
    if (!quota || quota->user != user) continue;
    if (quota->cordoned) return refuse_guest(shadow, fmt::format("user {} is cordoned", user));
    Amounts sum = asked_by(shadow);
    for (const ObjectPtr& other : s.all(codec::k_shadow_pods)) {
      if (label_of(*other, codec::k_creator_label) == user) {
        add(sum, asked_by(other->document()));
      }
    }
    for (const auto& [resource, amount] : sum) {
      const auto granted = quota->amounts.find(resource);
      if (granted == quota->amounts.end()) {
        return refuse_guest(shadow, fmt::format("{} is not granted", resource));
      }
      if (amount <= granted->second) continue;
      return refuse_guest(
          shadow, fmt::format("{} is exceeded: {} of {}", resource, amount, granted->second));
    }
    return {};
  }
  return refuse_guest(shadow, fmt::format("user {} has no quota", user));
}

ShadowPods::ShadowPods(const Setting& setting) : Controller(setting) {
  follow(codec::k_shadow_pods);
  follow(codec::k_pods, [this](const Object& pod) {
    if (label_of(pod, k_managed_by_label) == "shadowpod") look_soon(pod.key);
  });
}

void ShadowPods::look_at(const Key& key) {
  const ObjectPtr shadow = s_.find(codec::k_shadow_pods, key);
  if (shadow == nullptr || shadow->is_deleting) return;
  const ObjectPtr pod = s_.find(codec::k_pods, key);
  if (pod == nullptr) return make_pod(*shadow);
  const std::string phase = *find_pair(pod->fields, "status.phase");
  s_.change(codec::k_shadow_pods, key, [&](Node& document) {
    put(model::ensure(document, {"status"}), "phase", text_node(phase));
  });
}

void ShadowPods::make_pod(const Object& shadow) const {
  codec::Texts labels(shadow.labels.begin(), shadow.labels.end());
  labels.emplace(k_managed_by_label, "shadowpod");
  Node made = new_document(shadow.key, labels, &shadow);
  const Node document = shadow.document();
  if (const Node* spec = model::look(document, {"spec", "pod"})) put(made, "spec", *spec);
  s_.create(codec::k_pods, std::move(made));
}

}  // namespace spillway::embedded::liqo
