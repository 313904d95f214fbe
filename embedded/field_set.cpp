#include "embedded/field_set.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "embedded/document.h"
#include "embedded/patch.h"
#include "model/json.h"

namespace spillway::embedded {
namespace {

using model::Node;
using model::put;

constexpr std::array k_identity = {
    std::string_view("name"),          std::string_view("namespace"),
    std::string_view("uid"),           std::string_view("resourceVersion"),
    std::string_view("generation"),    std::string_view("creationTimestamp"),
    std::string_view("selfLink"),      std::string_view("deletionTimestamp"),
    std::string_view("managedFields"), std::string_view("deletionGracePeriodSeconds")};

// Owned as a whole although they are objects.
constexpr std::array k_whole_objects = {
    std::string_view("nodeSelector"),     std::string_view("selector"),
    std::string_view("labelSelector"),    std::string_view("secretKeyRef"),
    std::string_view("configMapKeyRef"),  std::string_view("fieldRef"),
    std::string_view("resourceFieldRef"), std::string_view("involvedObject")};

template <class List>
bool has(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Protocol is a part of a port's key, and is TCP when it is not said.
std::string key_text(const Node& item, std::string_view member) {
  const std::string text = scalar_text(model::look(item, {member}));
  return text.empty() && member == "protocol" ? "TCP" : text;
}

std::vector<std::string_view> keys_of(const Kind& kind, std::string_view list, const Node& item) {
  if (kind.is_custom) return {};
  const std::string_view key = merge_key(list, item);
  if (key.empty()) return {};
  if (list == "ports") return {key, "protocol"};
  return {key};
}

std::string step_of(const Node& item, const std::vector<std::string_view>& keys) {
  Node node = model::object_node();
  for (const std::string_view key : keys) {
    const Node* value = model::look(item, {key});
    put(node, key, value != nullptr ? *value : model::text_node(key_text(item, key)));
  }
  return "k:" + model::to_json(node);
}

FieldSet set_of(const Kind& kind, const Node& value, std::string_view name);

FieldSet set_of_list(const Kind& kind, const Node& list, std::string_view name) {
  FieldSet set = model::object_node();
  for (const Node& item : list.items) {
    if (name == "finalizers") {
      put(set, "v:" + model::to_json(item), model::object_node());
      continue;
    }
    const auto keys = keys_of(kind, name, item);
    if (keys.empty()) return model::object_node();
    FieldSet& its = put(set, step_of(item, keys), set_of(kind, item, {}));
    put(its, ".", model::object_node());
  }
  return set;
}

FieldSet set_of(const Kind& kind, const Node& value, std::string_view name) {
  if (value.kind == Node::Kind::array) return set_of_list(kind, value, name);
  FieldSet set = model::object_node();
  if (value.kind != Node::Kind::object || (!kind.is_custom && has(k_whole_objects, name))) {
    return set;
  }
  for (const Node& member : value.items) {
    put(set, "f:" + member.key, set_of(kind, member, member.key));
  }
  return set;
}

bool is_leaf(const FieldSet& set) { return set.items.empty(); }

FieldSet filter(const FieldSet& set, Steps& at, const std::function<bool(const Steps&)>& keeps) {
  FieldSet kept = model::object_node();
  for (const FieldSet& member : set.items) {
    at.push_back(member.key);
    if (is_leaf(member)) {
      if (keeps(at)) put(kept, member.key, member);
    } else {
      FieldSet inner = filter(member, at, keeps);
      if (!is_leaf(inner)) put(kept, member.key, std::move(inner));
    }
    at.pop_back();
  }
  return kept;
}

const Node* find_item(const Node& list, const std::string& step) {
  const auto wanted = model::parse_json(std::string_view(step).substr(2), "key");
  if (!wanted) return nullptr;
  for (const Node& item : list.items) {
    const bool is_it =
        step.starts_with("v:")
            ? model::same(item, *wanted)
            : std::all_of(wanted->items.begin(), wanted->items.end(), [&](const Node& key) {
                return key_text(item, key.key) == scalar_text(&key);
              });
    if (is_it) return &item;
  }
  return nullptr;
}

const Node* step_into(const Node& node, const std::string& step) {
  if (step == ".") return &node;
  if (step.starts_with("f:")) return node.find(std::string_view(step).substr(2));
  return node.kind == Node::Kind::array ? find_item(node, step) : nullptr;
}

// Answers whether `node` holds nothing any more.
bool remove_from(Node& node, const Steps& steps, size_t depth) {
  const auto found = static_cast<const Node*>(step_into(node, steps[depth]));
  if (found == nullptr) return false;
  const bool is_last = depth + 1 == steps.size() || steps[depth + 1] == ".";
  const auto at = found - node.items.data();
  if (is_last || remove_from(node.items[static_cast<size_t>(at)], steps, depth + 1)) {
    node.items.erase(node.items.begin() + at);
  }
  return node.items.empty();
}

void merge_value(const Kind& kind, Node& target, const Node& wanted, std::string_view name);

void merge_items(const Kind& kind, Node& list, const Node& wanted, std::string_view name) {
  for (const Node& item : wanted.items) {
    const std::string step = name == "finalizers" ? "v:" + model::to_json(item)
                                                  : step_of(item, keys_of(kind, name, item));
    const Node* found = find_item(list, step);
    if (found == nullptr) {
      list.items.push_back(item);
    } else {
      merge_value(kind, list.items[static_cast<size_t>(found - list.items.data())], item, {});
    }
  }
}

void merge_value(const Kind& kind, Node& target, const Node& wanted, std::string_view name) {
  const bool is_taken_apart =
      target.kind == wanted.kind && !is_leaf(set_of(kind, wanted, name)) &&
      (wanted.kind == Node::Kind::object || wanted.kind == Node::Kind::array);
  if (!is_taken_apart) {
    std::string key = std::move(target.key);
    target = wanted;
    target.key = std::move(key);
    return;
  }
  if (wanted.kind == Node::Kind::array) return merge_items(kind, target, wanted, name);
  for (const Node& member : wanted.items) {
    const auto found = std::find_if(target.items.begin(), target.items.end(),
                                    [&](const Node& one) { return one.key == member.key; });
    merge_value(kind, found != target.items.end() ? *found : put(target, member.key, Node{}),
                member, member.key);
  }
}

}  // namespace

FieldSet fields_of(const Kind& kind, const Node& document) {
  FieldSet set = set_of(kind, document, {});
  for (const std::string_view key : {"f:apiVersion", "f:kind"}) model::erase(set, key);
  const auto metadata = std::find_if(set.items.begin(), set.items.end(),
                                     [](const Node& one) { return one.key == "f:metadata"; });
  if (metadata == set.items.end()) return set;
  std::erase_if(metadata->items, [](const Node& one) {
    return has(k_identity, std::string_view(one.key).substr(2));
  });
  if (is_leaf(*metadata)) model::erase(set, "f:metadata");
  return set;
}

FieldSet filter_fields(const FieldSet& set, const std::function<bool(const Steps&)>& keeps) {
  Steps at;
  return filter(set, at, keeps);
}

FieldSet intersection(const FieldSet& a, const FieldSet& b) {
  FieldSet common = model::object_node();
  for (const FieldSet& member : a.items) {
    const FieldSet* other = b.find(member.key);
    if (other == nullptr) continue;
    if (is_leaf(member) || is_leaf(*other)) {
      put(common, member.key, model::object_node());
    } else if (FieldSet inner = intersection(member, *other); !is_leaf(inner)) {
      put(common, member.key, std::move(inner));
    }
  }
  return common;
}

void unite(FieldSet& set, const FieldSet& more) {
  for (const FieldSet& member : more.items) {
    const auto found = std::find_if(set.items.begin(), set.items.end(),
                                    [&](const Node& one) { return one.key == member.key; });
    if (found == set.items.end()) {
      put(set, member.key, member);
    } else {
      unite(*found, member);
    }
  }
}

FieldSet difference(const FieldSet& set, const FieldSet& less) {
  return filter_fields(set, [&](const Steps& steps) {
    const FieldSet* at = &less;
    for (const std::string& step : steps) {
      at = at->find(step);
      if (at == nullptr) return true;
      if (is_leaf(*at)) return false;
    }
    return false;
  });
}

std::vector<Steps> leaves_of(const FieldSet& set) {
  std::vector<Steps> leaves;
  filter_fields(set, [&](const Steps& steps) {
    leaves.push_back(steps);
    return false;
  });
  return leaves;
}

const Node* value_at(const Node& document, const Steps& steps) {
  const Node* node = &document;
  for (const std::string& step : steps) {
    node = step_into(*node, step);
    if (node == nullptr) return nullptr;
  }
  return node;
}

void remove_at(Node& document, const Steps& steps) { remove_from(document, steps, 0); }

bool agree_at(const Node& a, const Node& b, const Steps& steps) {
  const Node* left = value_at(a, steps);
  const Node* right = value_at(b, steps);
  if (left == nullptr || right == nullptr) return left == right;
  return steps.back() == "." || model::same(*left, *right);
}

void merge_fields(const Kind& kind, Node& document, const Node& wanted) {
  merge_value(kind, document, wanted, {});
}

std::string path_text(const Steps& steps) {
  std::string text;
  for (const std::string& step : steps) {
    if (step.starts_with("f:")) text += "." + step.substr(2);
    if (step.starts_with("v:")) text += "[=" + step.substr(2) + "]";
    if (!step.starts_with("k:")) continue;
    const auto keys = model::parse_json(std::string_view(step).substr(2), "key");
    std::string inner;
    for (const Node& key : keys ? keys->items : std::vector<Node>{}) {
      inner += fmt::format("{}{}={}", inner.empty() ? "" : ",", key.key, model::to_json(key));
    }
    text += "[" + inner + "]";
  }
  return text;
}

}  // namespace spillway::embedded
