#include "supply/node_row.h"

#include <algorithm>

#include "base/text.h"
#include "model/limits.h"
#include "model/validation.h"
#include "supply/document.h"
#include "supply/requests.h"

namespace spillway::supply {
namespace {

using model::Node;
using model::TaintEffect;

// Liqo 1.2.0 labels and taints its virtual nodes so (pkg/virtualKubelet/liqoNodeProvider/setup.go);
// other virtual kubelets have the second label; the provider id is that of our own units.
constexpr std::string_view k_liqo_taint = "virtual-node.liqo.io/not-allowed";
constexpr std::string_view k_our_provider_id = "spillway://";

bool has_label(const NodeRow& row, std::string_view key, std::string_view value) {
  const std::string* found = model::find_label(row.labels, key);
  return found != nullptr && *found == value;
}

bool is_virtual(const NodeRow& row, const Node& document) {
  return has_label(row, "liqo.io/type", "virtual-node") ||
         has_label(row, "type", "virtual-kubelet") ||
         text_at(document, {"spec", "providerID"}).starts_with(k_our_provider_id) ||
         std::any_of(row.taints.begin(), row.taints.end(),
                     [](const model::Taint& taint) { return taint.key == k_liqo_taint; });
}

bool is_ready(const Node& document) {
  for (const Node& condition : items_of(find(document, {"status", "conditions"}))) {
    if (text_at(condition, {"type"}) == "Ready") return text_at(condition, {"status"}) == "True";
  }
  return false;
}

bool is_cordoned(const Node& document) {
  const Node* unschedulable = find(document, {"spec", "unschedulable"});
  if (unschedulable == nullptr) return false;
  return unschedulable->kind != Node::Kind::boolean || unschedulable->boolean;
}

TaintEffect effect_of(std::string_view text) {
  if (text == "PreferNoSchedule") return TaintEffect::prefer_no_schedule;
  return text == "NoExecute" ? TaintEffect::no_execute : TaintEffect::no_schedule;
}

Result<std::vector<model::Taint>> read_taints(const Node* list) {
  std::vector<model::Taint> taints;
  if (list == nullptr) return taints;
  if (list->kind != Node::Kind::array) return unreadable("spec.taints", "no list");
  for (const Node& item : list->items) {
    model::Taint taint{std::string(text_at(item, {"key"})), std::string(text_at(item, {"value"})),
                       effect_of(text_at(item, {"effect"}))};
    if (!model::is_qualified_name(taint.key) || !model::is_label_value(taint.value)) {
      return unreadable("spec.taints", in_quotes(taint.key) + " is no taint");
    }
    taints.push_back(std::move(taint));
  }
  if (taints.size() > model::k_max_names) return unreadable("spec.taints", "too many");
  return taints;
}

std::string arch_of(const NodeRow& row, const Node& document) {
  const std::string* label = model::find_label(row.labels, "kubernetes.io/arch");
  if (label != nullptr && !label->empty()) return *label;
  const std::string_view said = text_at(document, {"status", "nodeInfo", "architecture"});
  return !said.empty() && model::is_label_value(said) ? std::string(said) : "unknown";
}

// Keeps the first problem; a part that cannot be read stays empty.
template <class T>
void take(Result<T> part, T& into, std::string& problem) {
  if (part) {
    into = std::move(*part);
  } else if (problem.empty()) {
    problem = part.error().message();
  }
}

Result<model::Resources> allocatable_of(const Node& document) {
  const Node* list = find(document, {"status", "allocatable"});
  if (list == nullptr) return unreadable("status.allocatable", "absent");
  return read_allocatable(*list);
}

Result<model::Counts> devices_of(const Node& document) {
  const Node* list = find(document, {"status", "capacity"});
  if (list == nullptr) return model::Counts{};
  return read_devices(*list);
}

bool lacks_a_device(const NodeRow& row) {
  return std::any_of(row.devices.begin(), row.devices.end(), [&row](const model::Count& device) {
    const auto& well = row.allocatable.extended;
    const auto at = std::find_if(well.begin(), well.end(), [&device](const model::Count& count) {
      return count.name == device.name;
    });
    return device.amount > (at == well.end() ? 0 : at->amount);
  });
}

}  // namespace

// The node's controller takes its taints away seconds after the kubelet says that all is well.
bool is_of_health(const model::Taint& taint) {
  return taint.key.starts_with("node.kubernetes.io/") &&
         taint.key != "node.kubernetes.io/unschedulable";
}

bool is_ill(const NodeRow& row) {
  return !row.ready || lacks_a_device(row) ||
         std::any_of(row.taints.begin(), row.taints.end(), is_of_health);
}

Result<NodeRow> node_row(const Node& document) {
  NodeRow row;
  row.name = text_at(document, {"metadata", "name"});
  if (row.name.empty()) return unreadable("node", "it has no name");
  take(read_labels(find(document, {"metadata", "labels"})), row.labels, row.problem);
  take(read_taints(find(document, {"spec", "taints"})), row.taints, row.problem);
  take(allocatable_of(document), row.allocatable, row.problem);
  take(devices_of(document), row.devices, row.problem);
  row.arch = arch_of(row, document);
  row.ready = is_ready(document);
  row.cordoned = is_cordoned(document);
  row.going = find(document, {"metadata", "deletionTimestamp"}) != nullptr;
  row.is_virtual = is_virtual(row, document);
  return row;
}

}  // namespace spillway::supply
