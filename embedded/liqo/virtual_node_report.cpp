#include "embedded/liqo/virtual_node_report.h"

#include <algorithm>

#include "embedded/document.h"
#include "fabric/liqo/names.h"
#include "fabric/liqo/virtual_node.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;

Node& own_taints(Node& node) {
  Node& spec = model::ensure(node, {"spec"});
  const Node* present = model::look(spec, {"taints"});
  Node taints = present == nullptr ? model::array_node() : *present;
  return put(spec, "taints", std::move(taints));
}

void add_taint(Node& node, const Node& taint) {
  Node& taints = own_taints(node);
  const bool is_there = std::any_of(taints.items.begin(), taints.items.end(), [&](const Node& one) {
    return model::text_at(one, {"key"}) == model::text_at(taint, {"key"}) &&
           model::text_at(one, {"effect"}) == model::text_at(taint, {"effect"});
  });
  if (!is_there) taints.items.push_back(taint);
  if (taints.items.empty()) model::erase(model::ensure(node, {"spec"}), "taints");
}

bool has_amounts(const Node& granted) {
  if (granted.items.empty()) return false;
  return std::none_of(granted.items.begin(), granted.items.end(),
                      [](const Node& one) { return scalar_text(&one) == "0"; });
}

void write_labels(Node& node, const Node& virtual_node) {
  const std::string name(name_of(node));
  Node& labels = model::ensure(node, {"metadata", "labels"});
  put(labels, "alpha.service-controller.kubernetes.io/exclude-balancer", text_node("true"));
  put(labels, "kubernetes.io/arch", text_node("amd64"));
  put(labels, "kubernetes.io/hostname", text_node(name));
  put(labels, "kubernetes.io/os", text_node("linux"));
  put(labels, "kubernetes.io/role", text_node("agent"));
  put(labels, fabric::liqo::k_peer_label,
      text_node(model::text_at(virtual_node, {"spec", "clusterID"})));
  put(labels, fabric::liqo::k_node_type_label, text_node(fabric::liqo::k_virtual_node_type));
  put(labels, "node.kubernetes.io/exclude-from-external-load-balancers", text_node("true"));
  const bool has_storage = !model::items_at(virtual_node, {"spec", "storageClasses"}).empty();
  put(labels, "storage.liqo.io/available", text_node(has_storage ? "true" : "false"));
  for (const Node& label : model::items_at(virtual_node, {"spec", "labels"})) {
    put(labels, label.key, label);
  }
  for (const Node& one : model::items_at(virtual_node, {"spec", "annotations"})) {
    put(model::ensure(node, {"metadata", "annotations"}), one.key, one);
  }
}

void write_conditions(Node& node, bool is_ready, Instant now) {
  const auto say = [&](std::string_view type, std::string_view status, std::string_view reason,
                       std::string_view message) {
    set_condition(node, {.type = type, .status = status, .reason = reason, .message = message},
                  now);
  };
  if (is_ready) {
    const std::string_view enough = "The remote cluster is advertising sufficient resources";
    say("Ready", "True", "KubeletReady", "The Liqo Virtual Kubelet is posting ready status");
    say("MemoryPressure", "False", "RemoteClusterHasSufficientMemory", enough);
    say("DiskPressure", "False", "RemoteClusterHasNoDiskPressure", enough);
    say("PIDPressure", "False", "RemoteClusterHasNoPIDPressure", enough);
    return;
  }
  const std::string_view little = "The remote cluster is advertising no/insufficient resources";
  say("Ready", "False", "KubeletNotReady", "The Liqo Virtual Kubelet is currently not ready");
  say("MemoryPressure", "True", "RemoteClusterHasMemoryPressure", little);
  say("DiskPressure", "True", "RemoteClusterHasDiskPressure", little);
  say("PIDPressure", "True", "RemoteClusterHasPIDPressure", little);
}

}  // namespace

Node new_virtual_kubelets_node(const Node& virtual_node) {
  const std::string provider(model::text_at(virtual_node, {"spec", "clusterID"}));
  Node made = fabric::liqo::node_to_adopt({std::string(name_of(virtual_node)), provider, "", {}});
  model::erase(model::ensure(made, {"spec"}), "providerID");
  return made;
}

void report_virtual_node(Node& node, const Node& virtual_node, Instant now) {
  write_labels(node, virtual_node);
  for (const Node& taint : model::items_at(virtual_node, {"spec", "taints"})) {
    add_taint(node, taint);
  }
  const Node* granted = model::look(virtual_node, {"spec", "resourceQuota", "hard"});
  Node& status = model::ensure(node, {"status"});
  if (granted != nullptr) {
    put(status, "capacity", *granted);
    put(status, "allocatable", *granted);
  }
  write_conditions(node, granted != nullptr && has_amounts(*granted), now);
}

}  // namespace spillway::embedded::liqo
