#include "model/spot.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace spillway::model {
namespace {

std::string_view name_of(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::boolean:
      return "true or false";
    case Node::Kind::integer:
      return "a whole number";
    case Node::Kind::decimal:
      return "a number";
    case Node::Kind::string:
      return "text";
    case Node::Kind::array:
      return "a list";
    case Node::Kind::object:
      return "an object";
  }
  return "something";
}

// Keys come from outside; a path shows the odd ones as in_quotes() does.
std::string key_in_path(const std::string& key) {
  constexpr size_t k_longest_shown = 63;
  const bool plain = !key.empty() && key.size() <= k_longest_shown && is_printable(key);
  return plain ? key : in_quotes(key);
}

std::string thing_at(std::string_view what, Pointing pointing, Position position,
                     std::string_view path) {
  std::string thing = pointed(what, position, pointing);
  if (!path.empty()) {
    thing += ": ";
    thing += path;
  }
  return thing;
}

}  // namespace

std::string shown(const Node& node) {
  switch (node.kind) {
    case Node::Kind::boolean:
      return node.boolean ? "true" : "false";
    case Node::Kind::integer:
      return std::to_string(node.integer);
    case Node::Kind::decimal:
    case Node::Kind::string:
      return in_quotes(node.text);
    default:
      return std::string(name_of(node.kind));
  }
}

bool Spot::expect(Node::Kind kind) const {
  if (node_->kind == kind) return true;
  const bool is_scalar = node_->kind == Node::Kind::boolean || node_->kind == Node::Kind::integer ||
                         node_->kind == Node::Kind::decimal;
  refuse(fmt::format("{} where {} is expected", shown(*node_), name_of(kind)),
         kind == Node::Kind::string && is_scalar ? "put it in quotation marks" : "");
  return false;
}

void Spot::refuse(std::string reason, std::string next) const {
  if (!failed()) refuse_at(path(), node_->position, std::move(reason), std::move(next));
}

void Spot::refuse_missing(std::string_view name) const {
  if (failed()) return;
  std::string missing = path();
  if (!missing.empty()) missing += '.';
  missing += name;
  refuse_at(std::move(missing), node_->position, "it is missing", "add it");
}

void Spot::refuse_unknown(std::span<const std::string_view> known) const {
  for (const Node& member : node_->items) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    const std::string_view meant = nearest(member.key, known);
    this->member(member).refuse("unknown field",
                                meant.empty() ? fmt::format("known are {}", fmt::join(known, ", "))
                                              : fmt::format("did you mean {}?", meant));
    return;
  }
}

void Spot::refuse_word(std::span<const std::string_view> known) const {
  const std::string_view meant = nearest(node_->text, known);
  refuse(fmt::format("{} is not known here", in_quotes(node_->text)),
         meant.empty() ? fmt::format("use one of {}", fmt::join(known, ", "))
                       : fmt::format("did you mean {}?", meant));
}

std::string Spot::path() const {
  if (parent_ == nullptr) return {};
  std::string path = parent_->path();
  if (index_ != k_by_key) return path + "[" + std::to_string(index_) + "]";
  if (!path.empty()) path += '.';
  return path + key_in_path(node_->key);
}

void Spot::refuse_at(std::string path, Position position, std::string reason,
                     std::string next) const {
  verdict_->error =
      Error{Code::invalid, thing_at(verdict_->what, verdict_->pointing, position, path),
            std::move(reason), std::move(next)};
}

Error locate(const Node& root, std::string_view what, Pointing pointing, Error error) {
  error.thing = thing_at(what, pointing, find_path(root, error.thing).position, error.thing);
  return error;
}

}  // namespace spillway::model
