#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "embedded/patch.h"
#include "model/tree.h"

namespace spillway::embedded {
namespace {

using model::Node;
using Steps = std::vector<std::string>;

// As the real one answers whatever a well-formed patch cannot do.
Refused cannot_apply() {
  return Refused(
      Refusal{422, "Invalid", "the server rejected our request due to an error in our request"});
}

// "~1" is a slash, "~0" a tilde.
std::string unescape(std::string_view step) {
  std::string plain;
  for (size_t i = 0; i < step.size(); ++i) {
    const bool is_escape = step[i] == '~' && i + 1 < step.size();
    plain += is_escape && step[i + 1] == '1' ? '/' : step[i];
    if (is_escape) ++i;
  }
  return plain;
}

std::optional<Steps> parse_pointer(std::string_view text) {
  Steps steps;
  if (text.empty()) return steps;
  if (text.front() != '/') return std::nullopt;
  while (!text.empty()) {
    text.remove_prefix(1);
    const size_t end = std::min(text.find('/'), text.size());
    steps.push_back(unescape(text.substr(0, end)));
    text.remove_prefix(end);
  }
  return steps;
}

// "-" is the place after the last. None: no such item.
std::optional<size_t> index_of(const std::string& step, size_t most) {
  if (step == "-") return most;
  size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error != std::errc() || end != step.data() + step.size() || index > most) return std::nullopt;
  return index;
}

Node* step_into(Node& node, const std::string& step) {
  if (node.kind == Node::Kind::array) {
    const auto index = index_of(step, node.items.size());
    return index && *index < node.items.size() ? &node.items[*index] : nullptr;
  }
  const auto found = std::find_if(node.items.begin(), node.items.end(),
                                  [&](const Node& item) { return item.key == step; });
  return node.kind == Node::Kind::object && found != node.items.end() ? &*found : nullptr;
}

Node* walk(Node& root, const Steps& steps, size_t count) {
  Node* node = &root;
  for (size_t i = 0; node != nullptr && i < count; ++i) node = step_into(*node, steps[i]);
  return node;
}

bool add_at(Node& root, const Steps& steps, Node value) {
  if (steps.empty()) {
    root = std::move(value);
    return true;
  }
  Node* parent = walk(root, steps, steps.size() - 1);
  if (parent == nullptr) return false;
  if (parent->kind == Node::Kind::object) {
    model::put(*parent, steps.back(), std::move(value));
    return true;
  }
  if (parent->kind != Node::Kind::array) return false;
  const auto index = index_of(steps.back(), parent->items.size());
  if (!index) return false;
  value.key.clear();
  parent->items.insert(parent->items.begin() + static_cast<std::ptrdiff_t>(*index),
                       std::move(value));
  return true;
}

bool remove_at(Node& root, const Steps& steps) {
  Node* parent = steps.empty() ? nullptr : walk(root, steps, steps.size() - 1);
  Node* found = parent == nullptr ? nullptr : step_into(*parent, steps.back());
  if (found == nullptr) return false;
  parent->items.erase(parent->items.begin() + (found - parent->items.data()));
  return true;
}

bool replace_at(Node& root, const Steps& steps, Node value) {
  Node* found = walk(root, steps, steps.size());
  if (found == nullptr) return false;
  value.key = found->key;
  *found = std::move(value);
  return true;
}

bool run(Node& root, const Node& operation) {
  const std::string_view op = model::text_at(operation, {"op"});
  const auto path = parse_pointer(model::text_at(operation, {"path"}));
  const auto from = parse_pointer(model::text_at(operation, {"from"}));
  const Node* value = operation.find("value");
  if (!path || !from) return false;
  if (op == "remove") return remove_at(root, *path);
  if (op == "move" || op == "copy") {
    const Node* source = walk(root, *from, from->size());
    if (source == nullptr) return false;
    Node taken = *source;
    if (op == "move" && !remove_at(root, *from)) return false;
    return add_at(root, *path, std::move(taken));
  }
  if (value == nullptr) return false;
  if (op == "add") return add_at(root, *path, *value);
  if (op == "replace") return replace_at(root, *path, *value);
  if (op != "test") return false;
  const Node* found = walk(root, *path, path->size());
  return found != nullptr && model::same(*found, *value);
}

// As the real one bounds it: a patch of copies doubles the document with each.
constexpr size_t k_most_operations = 10'000;
constexpr size_t k_most_copied = size_t{3} << 20;

size_t copied_by(Node& root, const Node& operation) {
  if (model::text_at(operation, {"op"}) != "copy") return 0;
  const auto from = parse_pointer(model::text_at(operation, {"from"}));
  const Node* source = from ? walk(root, *from, from->size()) : nullptr;
  return source == nullptr ? 0 : model::to_json(*source).size();
}

}  // namespace

Answer<Node> json_patch(Node document, const Node& patch) {
  if (patch.kind != Node::Kind::array) {
    return bad_request(
        "error decoding patch: json: cannot unmarshal object into Go value of type "
        "jsonpatch.Patch");
  }
  if (patch.items.size() > k_most_operations) return cannot_apply();
  size_t copied = 0;
  for (const Node& operation : patch.items) {
    copied += copied_by(document, operation);
    if (copied > k_most_copied || !run(document, operation)) return cannot_apply();
  }
  return document;
}

}  // namespace spillway::embedded
