#include "embedded/liqo/offloadings.h"

#include <algorithm>

#include <fmt/format.h>

#include "embedded/document.h"
#include "embedded/selector.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;

constexpr std::string_view k_offloading_finalizer =
    "namespaceoffloading-controller.liqo.io/finalizer";

std::string twin_of(const codec::NamespaceOffloading& wish, const std::string& space,
                    const std::string& own_id) {
  switch (wish.mapping) {
    case codec::Mapping::same_name:
      return space;
    case codec::Mapping::selected_name:
      return wish.remote_name;
    case codec::Mapping::default_name:
      break;
  }
  return fmt::format("{}-{}", space, own_id);
}

// The phase of a twin at a provider; empty: it was not asked for.
std::string phase_in(const Object& map, const std::string& space) {
  return std::string(model::text_at(map.document(), {"status", "currentMapping", space, "phase"}));
}

std::string wanted_in(const Object& map, const std::string& space) {
  return std::string(model::text_at(map.document(), {"spec", "desiredMapping", space}));
}

bool is_local_map(const Object& map) { return label_of(map, codec::k_replication_label) == "true"; }

void set_scheduling(Node& space, bool is_on) {
  Node& labels = model::ensure(space, {"metadata", "labels"});
  if (is_on) {
    put(labels, k_scheduling_label, text_node("true"));
  } else {
    model::erase(labels, k_scheduling_label);
  }
}

}  // namespace

Offloadings::Offloadings(const Setting& setting) : Controller(setting) {
  follow(codec::k_namespace_offloadings);
  follow(codec::k_namespace_maps, [this](const Object& map) {
    if (is_local_map(map)) look_at_all();
  });
  follow(codec::k_nodes, [this](const Object& node) {
    if (!label_of(node, codec::k_peer_label).empty()) look_at_all();
  });
}

void Offloadings::look_at_all() {
  for (const ObjectPtr& one : s_.all(codec::k_namespace_offloadings)) look_soon(one->key);
}

// By the labels of its virtual nodes. Without a selector nobody is selected, with an empty one
// everybody.
bool Offloadings::selects(const Node& document, const std::string& provider) const {
  const Node* terms = model::look(document, {"spec", "clusterSelector", "nodeSelectorTerms"});
  if (terms == nullptr) return false;
  for (const ObjectPtr& node : s_.all(codec::k_nodes)) {
    if (label_of(*node, codec::k_peer_label) != provider) continue;
    if (terms->items.empty()) return true;
    const bool fits = std::any_of(terms->items.begin(), terms->items.end(), [&](const Node& term) {
      return read_expressions(model::items_at(term, {"matchExpressions"})).matches(node->labels);
    });
    if (fits) return true;
  }
  return false;
}

// An empty twin: no entry.
void Offloadings::settle_entry(const Object& map, const std::string& space,
                               const std::string& twin) const {
  if (wanted_in(map, space) == twin) return;
  s_.change(codec::k_namespace_maps, map.key, [&](Node& document) {
    Node& wanted = model::ensure(document, {"spec", "desiredMapping"});
    if (twin.empty()) {
      model::erase(wanted, space);
    } else {
      put(wanted, space, text_node(twin));
    }
    if (wanted.items.empty()) model::erase(model::ensure(document, {"spec"}), "desiredMapping");
  });
}

bool Offloadings::is_mapped(const std::string& space) const {
  const auto maps = s_.all(codec::k_namespace_maps);
  return std::any_of(maps.begin(), maps.end(), [&](const ObjectPtr& map) {
    return is_local_map(*map) && !phase_in(*map, space).empty();
  });
}

void Offloadings::look_at(const Key& key) {
  const ObjectPtr object = s_.find(codec::k_namespace_offloadings, key);
  if (object == nullptr) return;
  const Node document = object->document();
  const auto wish = codec::read_namespace_offloading(document);
  if (!wish) return;
  if (!object->is_deleting && !has_finalizer(document, k_offloading_finalizer)) {
    s_.change(codec::k_namespace_offloadings, key,
              [](Node& changed) { add_finalizer(changed, k_offloading_finalizer); });
  }
  const bool is_on = !object->is_deleting && wish->placement != codec::Placement::local;
  s_.change(codec::k_namespaces, {"", key.space},
            [&](Node& space) { set_scheduling(space, is_on); });
  const std::string twin = twin_of(*wish, key.space, s_.id());
  for (const ObjectPtr& map : s_.all(codec::k_namespace_maps)) {
    if (!is_local_map(*map) || map->is_deleting) continue;
    const bool is_wanted = !object->is_deleting && selects(document, map->key.name);
    settle_entry(*map, key.space, is_wanted ? twin : std::string());
  }
  write_status(key, twin);
  if (!object->is_deleting || is_mapped(key.space)) return;
  s_.change(codec::k_namespace_offloadings, key,
            [](Node& changed) { drop_finalizer(changed, k_offloading_finalizer); });
}

void Offloadings::write_status(const Key& key, const std::string& twin) const {
  size_t selected = 0;
  size_t ready = 0;
  size_t failed = 0;
  Node all = model::object_node();
  for (const ObjectPtr& map : s_.all(codec::k_namespace_maps)) {
    if (!is_local_map(*map) || wanted_in(*map, key.space).empty()) continue;
    const std::string phase = phase_in(*map, key.space);
    selected += 1;
    ready += phase == "Accepted" ? 1 : 0;
    failed += phase == "CreationLoopBackOff" ? 1 : 0;
    Node about = model::object_node();
    set_condition(about,
                  {.type = "OffloadingRequired",
                   .status = "True",
                   .reason = "ClusterSelected",
                   .message = "The remote cluster has been selected through the ClusterSelector "
                              "field"},
                  s_.now());
    set_condition(
        about,
        phase == "Accepted"
            ? Condition{"Ready", "True", "NamespaceCreated",
                        "Namespace correctly offloaded to the remote cluster"}
            : Condition{"Ready", "False", "Creating", "The remote namespace is being created"},
        s_.now());
    put(all, map->key.name, *model::look(about, {"status", "conditions"}));
  }
  const auto phase_of = [&](bool is_deleting) -> std::string_view {
    if (is_deleting) return "Terminating";
    if (selected == 0) return "NoClusterSelected";
    if (ready == selected) return "Ready";
    if (failed == selected) return "AllFailed";
    return failed > 0 ? "SomeFailed" : "InProgress";
  };
  s_.change(codec::k_namespace_offloadings, key, [&](Node& document) {
    Node& status = model::ensure(document, {"status"});
    put(status, "observedGeneration",
        model::integer_node(model::integer_at(document, {"metadata", "generation"})));
    put(status, "offloadingPhase", text_node(phase_of(is_being_deleted(document))));
    put(status, "remoteNamespaceName", text_node(twin));
    // Times of transition change with what they are of, and with nothing else.
    const Node* before = model::look(status, {"remoteNamespacesConditions"});
    const auto words = [](const Node& conditions) {
      std::string text;
      for (const Node& of_peer : conditions.items) {
        for (const Node& one : of_peer.items) {
          text += fmt::format("{} {} {};", of_peer.key, model::text_at(one, {"type"}),
                              model::text_at(one, {"reason"}));
        }
      }
      return text;
    };
    if (before != nullptr && words(*before) == words(all)) return;
    if (all.items.empty()) {
      model::erase(status, "remoteNamespacesConditions");
    } else {
      put(status, "remoteNamespacesConditions", all);
    }
  });
}

}  // namespace spillway::embedded::liqo
