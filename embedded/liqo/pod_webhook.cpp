#include "embedded/liqo/pod_webhook.h"

#include "embedded/document.h"
#include "fabric/liqo/namespaces.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;

Node& own_array(Node& object, std::string_view key) {
  const Node* present = model::look(object, {key});
  Node list = present == nullptr ? model::array_node() : *present;
  return put(object, key, std::move(list));
}

Node not_virtual() {
  Node term = model::object_node();
  Node& one =
      put(term, "matchExpressions", model::array_node()).items.emplace_back(model::object_node());
  put(one, "key", text_node(codec::k_node_type_label));
  put(one, "operator", text_node("NotIn"));
  put(one, "values", model::array_node()).items.push_back(text_node(codec::k_virtual_node_type));
  return term;
}

}  // namespace

void let_pod_leave(const Setting& s, Node& pod) {
  const std::string space(model::text_at(pod, {"metadata", "namespace"}));
  const ObjectPtr wish =
      s.find(codec::k_namespace_offloadings, {space, std::string(codec::k_offloading_name)});
  if (wish == nullptr || wish->is_deleting) return;
  const Node document = wish->document();
  const auto read = codec::read_namespace_offloading(document);
  if (!read || read->placement == codec::Placement::local) return;
  Node& spec = model::ensure(pod, {"spec"});
  Node& toleration = own_array(spec, "tolerations").items.emplace_back(model::object_node());
  put(toleration, "key", text_node(codec::k_taint));
  put(toleration, "operator", text_node("Exists"));
  put(toleration, "effect", text_node("NoExecute"));
  const Node* terms = model::look(document, {"spec", "clusterSelector", "nodeSelectorTerms"});
  if (terms == nullptr || terms->items.empty()) return;
  // Where the pod wants something itself, that stays: Liqo would join the two.
  Node& affinity = model::ensure(spec, {"affinity", "nodeAffinity"});
  constexpr std::string_view k_required = "requiredDuringSchedulingIgnoredDuringExecution";
  if (model::look(affinity, {k_required}) != nullptr) return;
  Node& wanted = put(model::ensure(affinity, {k_required}), "nodeSelectorTerms", *terms);
  if (read->placement == codec::Placement::local_and_remote) wanted.items.push_back(not_virtual());
}

}  // namespace spillway::embedded::liqo
