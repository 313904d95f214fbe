#include "embedded/defaults.h"

#include <algorithm>

#include "base/base64.h"
#include "embedded/amounts.h"
#include "embedded/document.h"

namespace spillway::embedded {
namespace {

using model::integer_node;
using model::Node;
using model::put;
using model::text_node;

void put_default(Node& object, std::string_view key, Node value) {
  if (model::look(object, {key}) == nullptr) put(object, key, std::move(value));
}

// Nothing is kept in less than thousandths: what is finer is rounded up to one.
void round_amounts(Node& amounts) {
  for (Node& item : amounts.items) {
    const std::string text = scalar_text(&item);
    const auto rounded = parse_quantity(text, QuantityStep::milli, rounding_of(text));
    const bool is_kept = !rounded || *rounded == INT64_MAX || *rounded == INT64_MIN ||
                         parse_quantity(text, QuantityStep::milli);
    if (is_kept) continue;
    std::string key = std::move(item.key);
    item = text_node(cpu_to_text(*rounded));
    item.key = std::move(key);
  }
}

void default_containers(Node& list) {
  for (Node& container : list.items) {
    for (const std::string_view part : {"limits", "requests"}) {
      if (model::look(container, {"resources", part}) == nullptr) continue;
      round_amounts(model::ensure(container, {"resources", part}));
    }
    const std::string_view image = model::text_at(container, {"image"});
    const bool is_moving = image.find(':') == std::string_view::npos || image.ends_with(":latest");
    put_default(container, "resources", model::object_node());
    put_default(container, "terminationMessagePath", text_node("/dev/termination-log"));
    put_default(container, "terminationMessagePolicy", text_node("File"));
    put_default(container, "imagePullPolicy", text_node(is_moving ? "Always" : "IfNotPresent"));
  }
}

void default_pod_spec(Node& spec) {
  for (Node& member : spec.items) {
    if (member.key == "containers" || member.key == "initContainers") default_containers(member);
  }
  put_default(spec, "restartPolicy", text_node("Always"));
  put_default(spec, "terminationGracePeriodSeconds", integer_node(30));
  put_default(spec, "dnsPolicy", text_node("ClusterFirst"));
  put_default(spec, "securityContext", model::object_node());
  put_default(spec, "schedulerName", text_node("default-scheduler"));
}

// The admission plugin DefaultTolerationSeconds.
void add_toleration(Node& spec, std::string_view key) {
  Node list = model::array_node();
  if (const Node* there = model::look(spec, {"tolerations"})) list = *there;
  for (const Node& item : list.items) {
    const std::string_view its_key = model::text_at(item, {"key"});
    const std::string_view effect = model::text_at(item, {"effect"});
    if ((its_key == key || its_key.empty()) && (effect == "NoExecute" || effect.empty())) return;
  }
  Node& toleration = list.items.emplace_back(model::object_node());
  put(toleration, "key", text_node(key));
  put(toleration, "operator", text_node("Exists"));
  put(toleration, "effect", text_node("NoExecute"));
  put(toleration, "tolerationSeconds", integer_node(300));
  put(spec, "tolerations", std::move(list));
}

void default_pod(Node& pod) {
  Node& spec = model::ensure(pod, {"spec"});
  default_pod_spec(spec);
  put_default(spec, "serviceAccountName", text_node("default"));
  put_default(spec, "serviceAccount", text_node(model::text_at(spec, {"serviceAccountName"})));
  put_default(spec, "enableServiceLinks", model::boolean_node(true));
  put_default(spec, "preemptionPolicy", text_node("PreemptLowerPriority"));
  put_default(spec, "priority", integer_node(0));
  add_toleration(spec, "node.kubernetes.io/not-ready");
  add_toleration(spec, "node.kubernetes.io/unreachable");
}

void default_deployment(Node& spec) {
  put_default(spec, "replicas", integer_node(1));
  put_default(spec, "revisionHistoryLimit", integer_node(10));
  put_default(spec, "progressDeadlineSeconds", integer_node(600));
  Node& strategy = model::ensure(spec, {"strategy"});
  put_default(strategy, "type", text_node("RollingUpdate"));
  if (model::text_at(strategy, {"type"}) == "RollingUpdate") {
    Node& rolling = model::ensure(strategy, {"rollingUpdate"});
    put_default(rolling, "maxUnavailable", text_node("25%"));
    put_default(rolling, "maxSurge", text_node("25%"));
  }
  default_pod_spec(model::ensure(spec, {"template", "spec"}));
}

void default_secret(Node& secret) {
  put_default(secret, "type", text_node("Opaque"));
  const Node* plain = model::look(secret, {"stringData"});
  if (plain == nullptr) return;
  const Node texts = *plain;
  for (const Node& item : texts.items) {
    put(model::ensure(secret, {"data"}), item.key, text_node(to_base64(item.text)));
  }
  model::erase(secret, "stringData");
}

void default_definition(Node& definition) {
  Node& names = model::ensure(definition, {"spec", "names"});
  std::string kind(model::text_at(names, {"kind"}));
  put_default(names, "listKind", text_node(kind + "List"));
  std::transform(kind.begin(), kind.end(), kind.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  put_default(names, "singular", text_node(kind));
}

// As kube-apiserver ranks pods for eviction.
std::string_view quality_of(const Node& pod) {
  bool any = false;
  bool all = true;
  for (const Node& container : model::items_at(pod, {"spec", "containers"})) {
    const Amounts limits = read_amounts(model::look(container, {"resources", "limits"}));
    Amounts requests = read_amounts(model::look(container, {"resources", "requests"}));
    any = any || !limits.empty() || !requests.empty();
    for (const auto& [resource, amount] : limits) requests.try_emplace(resource, amount);
    all = all && limits.contains("cpu") && limits.contains("memory") && requests == limits;
  }
  if (!any) return "BestEffort";
  return all ? "Guaranteed" : "Burstable";
}

}  // namespace

void set_defaults(const Kind& kind, Node& document) {
  if (kind.is_custom) return;
  if (kind.name == "Pod") default_pod(document);
  if (kind.name == "Deployment") default_deployment(model::ensure(document, {"spec"}));
  if (kind.name == "ReplicaSet") {
    Node& spec = model::ensure(document, {"spec"});
    put_default(spec, "replicas", integer_node(1));
    default_pod_spec(model::ensure(spec, {"template", "spec"}));
  }
  if (kind.name == "Secret") default_secret(document);
  if (kind.name == "CustomResourceDefinition") default_definition(document);
  if (kind.name == "Namespace") {
    put(model::ensure(document, {"metadata", "labels"}), "kubernetes.io/metadata.name",
        text_node(name_of(document)));
  }
}

void set_first_status(const Kind& kind, Node& document) {
  if (kind.name == "Node" && !kind.is_custom) return;  // a kubelet registers with its status
  if (!kind.has("status")) return;
  model::erase(document, "status");
  if (kind.is_custom) return;
  Node& status = put(document, "status", model::object_node());
  if (kind.name == "Pod") {
    put(status, "phase", text_node("Pending"));
    put(status, "qosClass", text_node(quality_of(document)));
  }
  if (kind.name == "Namespace") {
    put(status, "phase", text_node("Active"));
    Node finalizers = model::array_node();
    finalizers.items.push_back(text_node("kubernetes"));
    put(model::ensure(document, {"spec"}), "finalizers", std::move(finalizers));
  }
}

}  // namespace spillway::embedded
