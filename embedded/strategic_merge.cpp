#include <algorithm>
#include <array>

#include "embedded/document.h"
#include "embedded/patch.h"

namespace spillway::embedded {
namespace {

using model::Node;

struct KeyedList {
  std::string_view list;
  std::string_view key;
};

// patchMergeKey of the API's types. Node taints and pod tolerations have none: they are replaced.
constexpr std::array k_keyed = {
    KeyedList{"containers", "name"},
    KeyedList{"initContainers", "name"},
    KeyedList{"ephemeralContainers", "name"},
    KeyedList{"env", "name"},
    KeyedList{"volumes", "name"},
    KeyedList{"volumeMounts", "mountPath"},
    KeyedList{"volumeDevices", "devicePath"},
    KeyedList{"imagePullSecrets", "name"},
    KeyedList{"resourceClaims", "name"},
    KeyedList{"hostAliases", "ip"},
    KeyedList{"podIPs", "ip"},
    KeyedList{"hostIPs", "ip"},
    KeyedList{"conditions", "type"},
    KeyedList{"addresses", "type"},
    KeyedList{"ownerReferences", "uid"},
    KeyedList{"secrets", "name"},
    KeyedList{"topologySpreadConstraints", "topologyKey"},
};

constexpr std::string_view k_delete_from = "$deleteFromPrimitiveList/";

bool same_key(const Node& a, const Node& b, std::string_view key) {
  return scalar_text(model::look(a, {key})) == scalar_text(model::look(b, {key}));
}

void merge_object(Node& target, const Node& patch);

void merge_keyed_item(Node& list, const Node& item, std::string_view key) {
  const auto found = std::find_if(list.items.begin(), list.items.end(),
                                  [&](const Node& one) { return same_key(one, item, key); });
  if (model::text_at(item, {"$patch"}) == "delete") {
    if (found != list.items.end()) list.items.erase(found);
    return;
  }
  if (found != list.items.end()) return merge_object(*found, item);
  Node added = model::object_node();
  merge_object(added, item);
  list.items.push_back(std::move(added));
}

void merge_list(Node& target, const Node& patch) {
  const bool is_set = patch.key == "finalizers";
  const std::string_view key =
      patch.items.empty() ? std::string_view() : merge_key(patch.key, patch.items.front());
  const bool replaces = (key.empty() && !is_set) || target.kind != Node::Kind::array ||
                        std::any_of(patch.items.begin(), patch.items.end(), [](const Node& item) {
                          return model::text_at(item, {"$patch"}) == "replace";
                        });
  if (replaces) target.items.clear();
  target.kind = Node::Kind::array;
  for (const Node& item : patch.items) {
    if (model::text_at(item, {"$patch"}) == "replace") continue;
    if (!key.empty()) {
      merge_keyed_item(target, item, key);
    } else if (!is_set || std::none_of(target.items.begin(), target.items.end(),
                                       [&](const Node& one) { return one.text == item.text; })) {
      target.items.push_back(item);
    }
  }
}

void retain_keys(Node& target, const Node& kept) {
  std::erase_if(target.items, [&](const Node& member) {
    return std::none_of(kept.items.begin(), kept.items.end(),
                        [&](const Node& name) { return name.text == member.key; });
  });
}

// "$patch", "$retainKeys", "$setElementOrder/x", "$deleteFromPrimitiveList/x"
void obey(Node& target, const Node& directive) {
  if (directive.key == "$retainKeys") return retain_keys(target, directive);
  if (!directive.key.starts_with(k_delete_from)) return;
  const std::string_view list = std::string_view(directive.key).substr(k_delete_from.size());
  for (Node& member : target.items) {
    if (member.key != list) continue;
    std::erase_if(member.items, [&](const Node& item) {
      return std::any_of(directive.items.begin(), directive.items.end(),
                         [&](const Node& gone) { return gone.text == item.text; });
    });
  }
}

void merge_member(Node& target, const Node& change) {
  if (change.kind == Node::Kind::null) {
    model::erase(target, change.key);
    return;
  }
  const auto found = std::find_if(target.items.begin(), target.items.end(),
                                  [&](const Node& item) { return item.key == change.key; });
  Node& member = found != target.items.end() ? *found : model::put(target, change.key, Node{});
  if (change.kind == Node::Kind::object) {
    merge_object(member, change);
  } else if (change.kind == Node::Kind::array) {
    merge_list(member, change);
  } else {
    model::put(target, change.key, change);
  }
}

void merge_object(Node& target, const Node& patch) {
  const std::string_view whole = model::text_at(patch, {"$patch"});
  if (target.kind != Node::Kind::object || whole == "replace" || whole == "delete") {
    target.items.clear();
    target.kind = Node::Kind::object;
  }
  if (whole == "delete") return;
  for (const Node& change : patch.items) {
    if (change.key.starts_with('$')) obey(target, change);
  }
  for (const Node& change : patch.items) {
    if (!change.key.starts_with('$')) merge_member(target, change);
  }
}

}  // namespace

std::string_view merge_key(std::string_view list, const Node& item) {
  if (item.kind != Node::Kind::object) return {};
  if (list == "ports") return item.find("containerPort") != nullptr ? "containerPort" : "port";
  const auto found = std::find_if(k_keyed.begin(), k_keyed.end(),
                                  [&](const KeyedList& one) { return one.list == list; });
  return found == k_keyed.end() ? std::string_view() : found->key;
}

Answer<Node> strategic_merge(Node document, const Node& patch) {
  if (patch.kind != Node::Kind::object) return bad_request("the patch is not an object");
  merge_object(document, patch);
  return document;
}

}  // namespace spillway::embedded
