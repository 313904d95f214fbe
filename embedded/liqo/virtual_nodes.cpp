#include "embedded/liqo/virtual_nodes.h"

#include "embedded/document.h"
#include "embedded/eviction.h"
#include "embedded/liqo/foreign_clusters.h"
#include "embedded/liqo/vk_options.h"
#include "fabric/liqo/virtual_node.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;

constexpr std::string_view k_virtual_node_finalizer = "virtualnode-controller.liqo.io/finalizer";
constexpr Duration k_drain_poll = seconds(10);   // Liqo's own
constexpr Duration k_refused_wait = seconds(5);  // it begins with milliseconds, and doubles them

// As Liqo does it: every entry of that type, and one more.
void say_condition(Node& document, std::string_view type, std::string_view status, Instant now) {
  Node& object = model::ensure(document, {"status"});
  const Node* before = model::look(object, {"conditions"});
  Node list = before == nullptr ? model::array_node() : *before;
  Node made = model::object_node();
  put(made, "type", text_node(type));
  put(made, "status", text_node(status));
  put(made, "lastTransitionTime", text_node(stamp(now)));
  for (Node& one : list.items) {
    if (model::text_at(one, {"type"}) == type) one = made;
  }
  list.items.push_back(std::move(made));
  put(object, "conditions", std::move(list));
}

bool has_said(const Node& document, std::string_view type, std::string_view status) {
  for (const Node& one : model::items_at(document, {"status", "conditions"})) {
    if (model::text_at(one, {"type"}) == type) return model::text_at(one, {"status"}) == status;
  }
  return false;
}

std::string provider_in(const Node& document) {
  return std::string(model::text_at(document, {"spec", "clusterID"}));
}

}  // namespace

VirtualNodes::VirtualNodes(const Setting& setting, VirtualKubelets& kubelets)
    : Controller(setting), kubelets_(kubelets) {
  follow(codec::k_virtual_nodes);
  const auto of_node = [this](const std::string& node) {
    for (const ObjectPtr& one : s_.all(codec::k_virtual_nodes)) {
      if (one->key.name == node && one->is_deleting) look_soon(one->key);
    }
  };
  follow(codec::k_pods, [of_node](const Object& pod) {
    const std::string& node = *find_pair(pod.fields, "spec.nodeName");
    if (!node.empty()) of_node(node);
  });
  // One that somebody has deleted is made again.
  follow(codec::k_namespace_maps, [this](const Object& map) {
    const std::string_view provider = label_of(map, codec::k_destination_label);
    for (const ObjectPtr& one : s_.all(codec::k_virtual_nodes)) {
      if (provider == provider_in(one->document())) look_soon(one->key);
    }
  });
}

void VirtualNodes::look_at(const Key& key) {
  const ObjectPtr object = s_.find(codec::k_virtual_nodes, key);
  if (object == nullptr) return;
  if (object->is_deleting) return end(*object);
  begin(*object);
}

void VirtualNodes::begin(const Object& object) {
  const Node document = object.document();
  if (!has_finalizer(document, k_virtual_node_finalizer)) {
    if (!has_options(s_, document)) return look_after(k_refused_wait, object.key);
    s_.change(codec::k_virtual_nodes, object.key,
              [](Node& changed) { add_finalizer(changed, k_virtual_node_finalizer); });
  }
  make_map(object.key.space, provider_in(document));
  if (!model::boolean_at(document, {"spec", "createNode"})) return;
  // That its Deployment is there, not that it runs.
  if (!has_said(document, codec::k_virtual_kubelet_condition, "Running")) {
    s_.change(codec::k_virtual_nodes, object.key, [this](Node& changed) {
      for (int i = 0; i < 2; ++i) {
        say_condition(changed, codec::k_virtual_kubelet_condition, "Running", s_.now());
        say_condition(changed, codec::k_node_condition, "Running", s_.now());
      }
    });
  }
}

void VirtualNodes::make_map(const std::string& space, const std::string& provider) const {
  const Key key{space, provider};
  if (s_.find(codec::k_namespace_maps, key) != nullptr) return;
  Node made = new_document(key,
                           {{std::string(codec::k_replication_label), "true"},
                            {std::string(codec::k_destination_label), provider},
                            {std::string(codec::k_peer_label), provider}},
                           nullptr);
  model::ensure(made, {"spec"});
  s_.create(codec::k_namespace_maps, std::move(made));
}

// True: nothing runs there any more.
bool VirtualNodes::drain(const Object& object) {
  const bool is_given_up = is_peer_given_up(s_, provider_in(object.document()));
  bool is_empty = true;
  for (const ObjectPtr& pod : s_.all(codec::k_pods)) {
    if (*find_pair(pod->fields, "spec.nodeName") != object.key.name) continue;
    DeleteOptions options;
    if (is_given_up) {
      options.grace_seconds = 0;
      (void)s_.objects.remove(*pod->kind, pod->key, options);
      continue;
    }
    is_empty = false;
    // The first refusal ends this try.
    if (!pod->is_deleting && !evict_pod(s_.objects, pod->key, options)) break;
  }
  return is_empty;
}

void VirtualNodes::end(const Object& object) {
  const Key node{"", object.key.name};
  const Node document = object.document();
  if (!has_finalizer(document, k_virtual_node_finalizer)) return;
  if (!has_said(document, codec::k_node_condition, "Draining")) {
    s_.change(codec::k_virtual_nodes, object.key, [this](Node& changed) {
      say_condition(changed, codec::k_node_condition, "Draining", s_.now());
    });
    s_.change(codec::k_nodes, node, [](Node& changed) {
      put(model::ensure(changed, {"spec"}), "unschedulable", model::boolean_node(true));
    });
    return;  // the change tells
  }
  if (!drain(object)) return look_after(k_drain_poll, object.key);
  if (!has_said(document, codec::k_virtual_kubelet_condition, "Deleting")) {
    kubelets_.stop(object.key);
    return s_.change(codec::k_virtual_nodes, object.key, [this](Node& changed) {
      say_condition(changed, codec::k_virtual_kubelet_condition, "Deleting", s_.now());
    });
  }
  s_.remove(codec::k_nodes, node);
  if (!has_options(s_, document)) return look_after(k_refused_wait, object.key);
  s_.change(codec::k_virtual_nodes, object.key,
            [](Node& changed) { drop_finalizer(changed, k_virtual_node_finalizer); });
  if (s_.all(codec::k_virtual_nodes, object.key.space).empty()) {
    s_.remove(codec::k_namespace_maps, {object.key.space, provider_in(document)});
  }
}

}  // namespace spillway::embedded::liqo
