#include "model/node.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"

namespace spillway::model {
namespace {

// The second of two members with one key; null when all differ. Few members are compared in
// pairs; many are sorted, since a hostile document could make pairs cost minutes.
const Node* repeated_member(const std::vector<Node>& members) {
  constexpr size_t k_few = 12;
  if (members.size() <= k_few) {
    for (size_t i = 1; i < members.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (members[j].key == members[i].key) return &members[i];
      }
    }
    return nullptr;
  }
  std::vector<const Node*> sorted;
  sorted.reserve(members.size());
  for (const Node& member : members) sorted.push_back(&member);
  std::sort(sorted.begin(), sorted.end(), [](const Node* a, const Node* b) {
    const int order = a->key.compare(b->key);
    return order != 0 ? order < 0 : a < b;
  });
  const auto pair = std::adjacent_find(
      sorted.begin(), sorted.end(), [](const Node* a, const Node* b) { return a->key == b->key; });
  return pair == sorted.end() ? nullptr : *std::next(pair);
}

// The member whose key begins the path. Keys may hold dots (example.com/fpga), so the longest wins.
const Node* member_at(const Node& object, std::string_view path) {
  const Node* best = nullptr;
  for (const Node& member : object.items) {
    if (!path.starts_with(member.key)) continue;
    const std::string_view rest = path.substr(member.key.size());
    if (!rest.empty() && rest[0] != '.' && rest[0] != '[') continue;
    if (best == nullptr || best->key.size() < member.key.size()) best = &member;
  }
  return best;
}

}  // namespace

const Node* Node::find(std::string_view member) const {
  if (kind != Kind::object) return nullptr;
  for (const Node& item : items) {
    if (item.key == member) return &item;
  }
  return nullptr;
}

const Node& find_path(const Node& root, std::string_view path) {
  const Node* node = &root;
  while (!path.empty()) {
    if (path[0] == '[' && node->kind == Node::Kind::array) {
      size_t index = 0;
      const auto read = std::from_chars(path.data() + 1, path.data() + path.size(), index);
      const size_t end = static_cast<size_t>(read.ptr - path.data());
      if (read.ec != std::errc{} || end >= path.size() || index >= node->items.size()) return *node;
      node = &node->items[index];
      path.remove_prefix(end + 1);
    } else {
      if (path[0] == '.') path.remove_prefix(1);
      const Node* member = node->kind == Node::Kind::object ? member_at(*node, path) : nullptr;
      if (member == nullptr) return *node;
      node = member;
      path.remove_prefix(member->key.size());
    }
  }
  return *node;
}

std::string pointed(std::string_view what, Position position, Pointing pointing) {
  if (pointing == Pointing::line) return fmt::format("{} line {}", what, position.line);
  return fmt::format("{} line {} column {}", what, position.line, position.column);
}

bool NodeBuilder::refuse(std::string reason, Position position) {
  if (reason_.empty()) {
    reason_ = std::move(reason);
    where_ = position;
  }
  return false;
}

bool NodeBuilder::awaits_key() const {
  return !open_.empty() && open_.back().kind == Node::Kind::object && !has_key_;
}

bool NodeBuilder::open(Node::Kind kind, Position position) {
  if (open_.size() >= max_depth_) {
    return refuse(fmt::format("nested deeper than {}", max_depth_), position);
  }
  if (awaits_key()) return refuse("a key that is no text", position);
  Node node;
  node.kind = kind;
  node.position = position;
  if (has_key_) {
    node.key = std::move(key_);
    node.position = key_position_;
    has_key_ = false;
  }
  open_.push_back(std::move(node));
  return true;
}

bool NodeBuilder::close() {
  Node node = std::move(open_.back());
  open_.pop_back();
  if (node.kind == Node::Kind::object) {
    if (const Node* repeated = repeated_member(node.items)) {
      return refuse(in_quotes(repeated->key) + " is there twice", repeated->position);
    }
  }
  return place(std::move(node));
}

bool NodeBuilder::key(std::string text, Position position) {
  key_ = std::move(text);
  key_position_ = position;
  has_key_ = true;
  return true;
}

bool NodeBuilder::value(Node node) {
  if (awaits_key()) return refuse("a key that is no text", node.position);
  if (has_key_) {
    node.key = std::move(key_);
    node.position = key_position_;
    has_key_ = false;
  }
  return place(std::move(node));
}

bool NodeBuilder::place(Node node) {
  if (open_.empty()) {
    root_ = std::move(node);
  } else {
    open_.back().items.push_back(std::move(node));
  }
  return true;
}

}  // namespace spillway::model
