#include "model/tree.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/json.h"

namespace spillway::model {
namespace {

Node of_kind(Node::Kind kind) {
  Node node;
  node.kind = kind;
  return node;
}

const Node* look_for(const Node& root, Path path, Node::Kind kind) {
  const Node* found = look(root, path);
  return found != nullptr && found->kind == kind ? found : nullptr;
}

void append_items(std::string& out, const Node& node) {
  const bool is_object = node.kind == Node::Kind::object;
  out += is_object ? '{' : '[';
  bool first = true;
  for (const Node& item : node.items) {
    if (!first) out += ',';
    first = false;
    if (is_object) {
      append_json_string(out, item.key);
      out += ':';
    }
    append_json(out, item);
  }
  out += is_object ? '}' : ']';
}

}  // namespace

Node object_node() { return of_kind(Node::Kind::object); }
Node array_node() { return of_kind(Node::Kind::array); }

Node text_node(std::string_view text) {
  Node node = of_kind(Node::Kind::string);
  node.text = text;
  return node;
}

Node integer_node(int64_t value) {
  Node node = of_kind(Node::Kind::integer);
  node.integer = value;
  return node;
}

Node boolean_node(bool value) {
  Node node = of_kind(Node::Kind::boolean);
  node.boolean = value;
  return node;
}

const Node* look(const Node& root, Path path) {
  const Node* node = &root;
  for (const std::string_view key : path) {
    node = node->find(key);
    if (node == nullptr) return nullptr;
  }
  return node->kind == Node::Kind::null ? nullptr : node;
}

std::string_view text_at(const Node& root, Path path) {
  const Node* found = look_for(root, path, Node::Kind::string);
  return found != nullptr ? std::string_view(found->text) : std::string_view();
}

int64_t integer_at(const Node& root, Path path, int64_t fallback) {
  const Node* found = look_for(root, path, Node::Kind::integer);
  return found != nullptr ? found->integer : fallback;
}

bool boolean_at(const Node& root, Path path, bool fallback) {
  const Node* found = look_for(root, path, Node::Kind::boolean);
  return found != nullptr ? found->boolean : fallback;
}

const std::vector<Node>& items_at(const Node& root, Path path) {
  static const std::vector<Node> k_none;
  const Node* found = look(root, path);
  return found != nullptr ? found->items : k_none;
}

Node& put(Node& object, std::string_view key, Node value) {
  if (object.kind != Node::Kind::object) {
    object.kind = Node::Kind::object;
    object.items.clear();
  }
  value.key = key;
  for (Node& item : object.items) {
    if (item.key == key) return item = std::move(value);
  }
  return object.items.emplace_back(std::move(value));
}

Node& ensure(Node& root, Path path) {
  Node* node = &root;
  for (const std::string_view key : path) {
    const auto found = std::find_if(node->items.begin(), node->items.end(),
                                    [&](const Node& item) { return item.key == key; });
    const bool is_there = node->kind == Node::Kind::object && found != node->items.end() &&
                          found->kind == Node::Kind::object;
    node = is_there ? &*found : &put(*node, key, object_node());
  }
  return *node;
}

bool erase(Node& object, std::string_view key) {
  return object.kind == Node::Kind::object &&
         std::erase_if(object.items, [&](const Node& item) { return item.key == key; }) > 0;
}

void merge(Node& target, const Node& patch) {
  if (patch.kind != Node::Kind::object) {
    std::string key = std::move(target.key);
    target = patch;
    target.key = std::move(key);
    return;
  }
  if (target.kind != Node::Kind::object) {
    target.kind = Node::Kind::object;
    target.items.clear();
  }
  for (const Node& change : patch.items) {
    if (change.kind == Node::Kind::null) {
      erase(target, change.key);
      continue;
    }
    const auto found = std::find_if(target.items.begin(), target.items.end(),
                                    [&](const Node& item) { return item.key == change.key; });
    merge(found != target.items.end() ? *found : put(target, change.key, Node{}), change);
  }
}

bool same(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.items.size() != b.items.size()) return false;
  if (a.kind != Node::Kind::object) {
    return a.text == b.text && a.integer == b.integer && a.boolean == b.boolean &&
           std::equal(a.items.begin(), a.items.end(), b.items.begin(), same);
  }
  return std::all_of(a.items.begin(), a.items.end(), [&](const Node& item) {
    const Node* other = b.find(item.key);
    return other != nullptr && same(item, *other);
  });
}

void append_json(std::string& out, const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      out += "null";
      break;
    case Node::Kind::boolean:
      out += node.boolean ? "true" : "false";
      break;
    case Node::Kind::integer:
      fmt::format_to(std::back_inserter(out), "{}", node.integer);
      break;
    case Node::Kind::decimal:
      out += node.text;
      break;
    case Node::Kind::string:
      append_json_string(out, node.text);
      break;
    case Node::Kind::array:
    case Node::Kind::object:
      append_items(out, node);
      break;
  }
}

std::string to_json(const Node& node) {
  std::string text;
  append_json(text, node);
  return text;
}

}  // namespace spillway::model
