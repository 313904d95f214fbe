#include "supply/document.h"

#include <algorithm>

#include "base/text.h"
#include "model/validation.h"

namespace spillway::supply {

using model::Node;

const Node* find(const Node& document, std::initializer_list<std::string_view> path) {
  const Node* at = &document;
  for (const std::string_view step : path) {
    if (at->kind != Node::Kind::object) return nullptr;
    at = at->find(step);
    if (at == nullptr || at->kind == Node::Kind::null) return nullptr;
  }
  return at;
}

std::string_view text_at(const Node& document, std::initializer_list<std::string_view> path) {
  const Node* at = find(document, path);
  if (at == nullptr || at->kind != Node::Kind::string) return {};
  return at->text;
}

const std::vector<Node>& items_of(const Node* list) {
  static const std::vector<Node> k_none;
  return list != nullptr && list->kind == Node::Kind::array ? list->items : k_none;
}

tl::unexpected<Error> unreadable(std::string_view path, std::string reason) {
  return fail(Code::invalid, std::string(path), std::move(reason));
}

Result<model::Labels> read_labels(const Node* object) {
  model::Labels labels;
  if (object == nullptr) return labels;
  if (object->kind != Node::Kind::object) return unreadable("labels", "no object");
  for (const Node& member : object->items) {
    const bool well_formed = member.kind == Node::Kind::string &&
                             model::is_qualified_name(member.key) &&
                             model::is_label_value(member.text);
    if (!well_formed) return unreadable("labels", in_quotes(member.key) + " is no label");
    labels.push_back({member.key, member.text});
  }
  std::sort(labels.begin(), labels.end(),
            [](const model::Label& a, const model::Label& b) { return a.key < b.key; });
  return labels;
}

}  // namespace spillway::supply
