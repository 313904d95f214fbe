#include "services/autoscaler/node_document.h"

#include "base/quantity.h"
#include "model/fields.h"

namespace spillway::autoscaler {
namespace {

using kube::Object;
using model::put;
using model::text_node;

Object taint_list(const std::vector<model::Taint>& taints) {
  Object list = model::array_node();
  for (const model::Taint& taint : taints) {
    Object& one = list.items.emplace_back(model::object_node());
    put(one, "key", text_node(taint.key));
    if (!taint.value.empty()) put(one, "value", text_node(taint.value));
    put(one, "effect", text_node(model::word_of(taint.effect)));
  }
  return list;
}

Object amounts(const model::Resources& has) {
  Object all = model::object_node();
  put(all, "cpu", text_node(cpu_to_text(has.cpu_millis)));
  put(all, "memory", text_node(bytes_to_text(has.memory_bytes)));
  put(all, "pods", text_node(std::to_string(has.pods)));
  if (has.storage_bytes > 0) {
    put(all, "ephemeral-storage", text_node(bytes_to_text(has.storage_bytes)));
  }
  for (const model::Count& one : has.extended) {
    put(all, one.name, text_node(std::to_string(one.amount)));
  }
  return all;
}

}  // namespace

Object node_document(const demand::NodeImage& image, const std::vector<Annotation>& annotations) {
  Object node = kube::new_object(kube::k_nodes, "Node", {"", image.name});
  Object& labels = model::ensure(node, {"metadata", "labels"});
  for (const model::Label& label : image.labels) put(labels, label.key, text_node(label.value));
  Object& notes = model::ensure(node, {"metadata", "annotations"});
  for (const Annotation& one : annotations) put(notes, one.key, text_node(one.value));
  Object& spec = model::ensure(node, {"spec"});
  put(spec, "providerID", text_node(image.provider_id));
  put(spec, "taints", taint_list(image.taints));
  Object& status = model::ensure(node, {"status"});
  put(status, "capacity", amounts(image.resources));
  put(status, "allocatable", amounts(image.resources));
  Object& info = model::ensure(status, {"nodeInfo"});
  put(info, "architecture", text_node(image.arch));
  put(info, "operatingSystem", text_node("linux"));
  return node;
}

bool is_ready(const Object& node) {
  for (const Object& condition : model::items_at(node, {"status", "conditions"})) {
    if (model::text_at(condition, {"type"}) != "Ready") continue;
    return model::text_at(condition, {"status"}) == "True";
  }
  return false;
}

}  // namespace spillway::autoscaler
