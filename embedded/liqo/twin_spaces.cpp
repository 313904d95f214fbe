#include "embedded/liqo/twin_spaces.h"

#include <fmt/format.h>

#include "embedded/document.h"
#include "embedded/liqo/roles.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;

constexpr std::string_view k_map_finalizer = "namespacemap-controller.liqo.io/finalizer";
constexpr std::string_view k_map_annotation = "liqo.io/managed-by-namespace-map";
constexpr std::string_view k_original_annotation = "liqo.io/original-name";

std::string map_text(const Key& map) { return fmt::format("{}/{}", map.space, map.name); }

}  // namespace

TwinSpaces::TwinSpaces(const Setting& setting) : Controller(setting) {
  follow(codec::k_namespace_maps);
  follow(codec::k_namespaces, [this](const Object& space) {
    const Node document = space.document();
    const std::string_view map = annotation_of(document, k_map_annotation);
    const size_t slash = map.find('/');
    if (slash == std::string_view::npos) return;
    look_soon({std::string(map.substr(0, slash)), std::string(map.substr(slash + 1))});
  });
}

std::vector<ObjectPtr> TwinSpaces::spaces_of(const Key& map) const {
  std::vector<ObjectPtr> found;
  for (const ObjectPtr& space : s_.all(codec::k_namespaces)) {
    if (annotation_of(space->document(), k_map_annotation) == map_text(map)) found.push_back(space);
  }
  return found;
}

void TwinSpaces::look_at(const Key& key) {
  const ObjectPtr object = s_.find(codec::k_namespace_maps, key);
  if (object == nullptr || label_of(*object, codec::k_replicated_label) != "true") return;
  const Node document = object->document();
  if (!object->is_deleting && !has_finalizer(document, k_map_finalizer)) {
    s_.change(codec::k_namespace_maps, key, [](Node& map) { add_finalizer(map, k_map_finalizer); });
  }
  auto map = codec::read_namespace_map(document);
  if (!map) return;
  if (object->is_deleting) map->wanted.clear();
  for (const auto& [name, twin] : map->wanted) make(key, name, twin);
  for (const ObjectPtr& space : spaces_of(key)) {
    const Node twin = space->document();
    const auto wanted = map->wanted.find(annotation_of(twin, k_original_annotation));
    const bool stays = wanted != map->wanted.end() && wanted->second == space->key.name;
    if (!stays && !space->is_deleting) s_.remove(codec::k_namespaces, space->key);
  }
  write_status(key, *map);
  if (!object->is_deleting || !spaces_of(key).empty()) return;
  s_.change(codec::k_namespace_maps, key,
            [](Node& changed) { drop_finalizer(changed, k_map_finalizer); });
}

void TwinSpaces::make(const Key& map, const std::string& name, const std::string& twin) const {
  const std::string buyer = peer_of_space(s_, map.space);
  if (s_.find(codec::k_namespaces, {"", twin}) == nullptr) {
    Node made = new_document({"", twin}, {{std::string(codec::k_peer_label), buyer}}, nullptr);
    Node& annotations = model::ensure(made, {"metadata", "annotations"});
    put(annotations, k_map_annotation, text_node(map_text(map)));
    put(annotations, k_original_annotation, text_node(name));
    s_.create(codec::k_namespaces, std::move(made));
  }
  bind_role(s_.objects, {twin, std::string(k_guest_binding)}, k_guest_role, "Group", buyer);
}

void TwinSpaces::write_status(const Key& key, const codec::NamespaceMap& map) const {
  Node current = model::object_node();
  const auto say = [&current](const std::string& name, std::string_view twin,
                              std::string_view phase) {
    Node& entry = put(current, name, model::object_node());
    put(entry, "remoteNamespace", text_node(twin));
    put(entry, "phase", text_node(phase));
  };
  for (const auto& [name, twin] : map.wanted) {
    const ObjectPtr space = s_.find(codec::k_namespaces, {"", twin});
    const bool is_ours = space != nullptr && !space->is_deleting &&
                         annotation_of(space->document(), k_map_annotation) == map_text(key);
    say(name, twin, is_ours ? "Accepted" : "CreationLoopBackOff");
  }
  for (const ObjectPtr& space : spaces_of(key)) {
    if (!space->is_deleting) continue;
    say(std::string(annotation_of(space->document(), k_original_annotation)), space->key.name,
        "Terminating");
  }
  s_.change(codec::k_namespace_maps, key, [&](Node& document) {
    Node& status = put(document, "status", model::object_node());
    if (!current.items.empty()) put(status, "currentMapping", current);
  });
}

}  // namespace spillway::embedded::liqo
